// SPDX-License-Identifier: MIT
// Which Host a request may name. A web page may have its own name point to this machine (DNS
// rebinding), and the browser of who runs the server then takes the pages for that page's own: so
// only names count that nobody else can give to it.
//
//   an address, [v6] or v4   what is asked there is asked of whom it reaches
//   localhost                browsers look it up nowhere
//   HttpDef.name             what the operator calls the server (option --http-host)
//   none                     no browser
//
// Pure of sockets.
#pragma once

#include "http/def.h"

// With or without a port.
bool host_is_ours(const HttpDef *def, const char *host);
