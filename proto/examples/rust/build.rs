// SPDX-License-Identifier: MIT
// Generates moreau.v1 with prost; needs protoc on the PATH.
fn main() {
    prost_build::compile_protos(&["../../moreau.proto"], &["../.."]).expect("protoc, and moreau.proto");
}
