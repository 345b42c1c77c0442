// SPDX-License-Identifier: MIT
// A session made from moreau.proto alone: a ball falls on a plane, its episode is recorded, and proven by stepping it
// again.
//   cargo run [HOST:PORT]
use prost::Message;
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;

#[allow(clippy::all, dead_code)] // messages that are only a scope for their enums
mod moreau {
    include!(concat!(env!("OUT_DIR"), "/moreau.v1.rs"));
}
use moreau::{reply, request, scene_primitive::Shape};

struct Session {
    stream: TcpStream,
    requests: u64,
}

impl Session {
    /// One call: its request, and the reply that ends it. Events, which some calls send before, are passed over.
    fn call(&mut self, call: request::Call) -> Result<reply::Result, Box<dyn Error>> {
        self.requests += 1;
        let request = moreau::Request { id: Some(self.requests), call: Some(call), ..Default::default() };
        let packed = request.encode_to_vec();
        // a frame: the length in four bytes, and the message
        self.stream.write_all(&(packed.len() as u32).to_be_bytes())?;
        self.stream.write_all(&packed)?;
        loop {
            let mut length = [0; 4];
            self.stream.read_exact(&mut length)?;
            let mut packed = vec![0; u32::from_be_bytes(length) as usize];
            self.stream.read_exact(&mut packed)?;
            let reply = moreau::Reply::decode(packed.as_slice())?;
            let status = reply.status.clone().unwrap_or_default();
            if status.code() != moreau::status::Code::Ok {
                return Err(format!("{}: {}", status.field(), status.message()).into());
            }
            if !reply.event() {
                return reply.result.ok_or_else(|| "a reply without a result".into());
            }
        }
    }
}

/// The result of the kind that is asked for.
macro_rules! expect {
    ($result:expr, $kind:ident) => {
        match $result? {
            reply::Result::$kind(result) => result,
            other => return Err(format!("another result than expected: {other:?}").into()),
        }
    };
}

fn body(name: &str, kind: moreau::body::Kind, position: Vec<f64>, shape: Shape) -> moreau::SceneBody {
    let primitive = moreau::ScenePrimitive { shape: Some(shape), ..Default::default() };
    let (name, kind, shapes) = (Some(name.into()), Some(kind.into()), vec![primitive]);
    moreau::SceneBody { name, kind, position, shapes, ..Default::default() }
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7667".into());
    let mut session = Session { stream: TcpStream::connect(address)?, requests: 0 };
    let hello = moreau::Hello { protocol_major: Some(1), client: Some("session.rs".into()), ..Default::default() };
    session.call(request::Call::Hello(hello))?;
    let ground = body("ground", moreau::body::Kind::Static, vec![], Shape::Plane(Default::default()));
    let sphere = moreau::SceneSphere { radius: Some(0.1) };
    let ball = body("ball", moreau::body::Kind::Dynamic, vec![0.0, 0.0, 1.0], Shape::Sphere(sphere));
    let scene = moreau::Scene { bodies: vec![ground, ball], ..Default::default() };
    let create = moreau::WorldCreate { scene: Some(scene), ..Default::default() };
    let world = expect!(session.call(request::Call::WorldCreate(create)), WorldCreate).world();

    let content = Some(moreau::episode::Content::Frames.into());
    let start = moreau::EpisodeStart { world: Some(world), content, ..Default::default() };
    let episode = expect!(session.call(request::Call::EpisodeStart(start)), EpisodeStart).episode;
    let step = moreau::WorldStep { worlds: vec![world], steps: Some(240), poses: Some(true), ..Default::default() };
    let step = expect!(session.call(request::Call::WorldStep(step)), WorldStep);
    if let Some(failure) = step.failures.first() {
        return Err(failure.message().into()); // of single worlds: the status of the call is OK all the same
    }
    // 7 numbers per body, x y z first
    println!("{:.3} s: the ball is at a height of {:.9} m", step.time[0], step.pose[7 + 2]);

    let stop = moreau::EpisodeStop { episode: episode.clone(), ..Default::default() };
    session.call(request::Call::EpisodeStop(stop))?;
    let verify = moreau::EpisodeVerify { episode, ..Default::default() };
    let proof = expect!(session.call(request::Call::EpisodeVerify(verify)), EpisodeVerify);
    let said = proof.differences.first().map_or("the same bits", |difference| difference.message());
    println!("{} steps taken again: {said}", proof.steps());
    Ok(())
}
