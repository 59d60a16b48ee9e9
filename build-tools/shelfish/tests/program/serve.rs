//! The program itself: what it prints, where it listens, how it ends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
};

type Test = Result<(), Box<dyn std::error::Error>>;

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(options: &[&str]) -> std::io::Result<Server> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shelfish"));
    command.arg("serve").arg(env!("CARGO_MANIFEST_DIR")).args(options);
    Ok(Server(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?))
}

#[test]
fn the_url_stands_on_a_line_of_its_own_and_answers() -> Test {
    let mut server = serve(&["--port", "0"])?;
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let address = line.trim_end().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/')).ok_or("no URL")?;
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET /Cargo.toml HTTP/1.1\r\nHost: x\r\nRange: bytes=0-8\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    assert!(answer.starts_with("HTTP/1.1 206 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\n[package]"), "{answer}");
    Ok(())
}

#[test]
fn a_taken_port_is_named_with_the_way_out() -> Test {
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.port();
    let mut server = serve(&["--port", &port.to_string()])?;
    let mut said = String::new();
    server.0.stderr.take().ok_or("no output")?.read_to_string(&mut said)?;
    assert_eq!(server.0.wait()?.code(), Some(1));
    assert!(said.contains(&format!("port {port} of 127.0.0.1 is taken")) && said.contains("--port 0"), "{said}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn an_interruption_ends_it_well_even_with_a_connection_open() -> Test {
    let mut server = serve(&["--port", "0"])?;
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let _idle = TcpStream::connect(line.trim_end().trim_start_matches("http://").trim_end_matches('/'))?;
    Command::new("kill").args(["-INT", &server.0.id().to_string()]).status()?;
    for _ in 0..100 {
        if let Some(status) = server.0.try_wait()? {
            assert_eq!(status.code(), Some(0));
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Err("still running after ten seconds".into())
}
