//! A small web server for pages that tests visit: [`Pages`].

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use crate::http::Request;

/// The answer to a path.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A page, with its status.
    Page(u16, String),
    /// A redirect to an address.
    Redirect(String),
    /// Raw bytes.
    Raw(Vec<u8>),
    /// No answer, until the client disconnects.
    Silence,
}

/// A web server on this machine, which runs until the process ends.
#[derive(Debug, Clone, Copy)]
pub struct Pages {
    port: u16,
}

impl Pages {
    /// Serves answers by their paths; other paths are not found.
    pub fn serve(answers: Vec<(&'static str, Answer)>) -> Pages {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers = Arc::new(answers);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answers = Arc::clone(&answers);
                std::thread::spawn(move || answer(stream, &answers));
            }
        });
        Pages { port }
    }

    /// Returns the port.
    pub fn port(self) -> u16 {
        self.port
    }

    /// Returns the address of a path.
    pub fn url(self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn answer(mut stream: TcpStream, answers: &[(&'static str, Answer)]) {
    // Unread data at the end of a connection would reset it, and the answer would be lost.
    let Ok(Some(request)) = Request::read(&stream) else { return };
    if request.finish(&stream).is_err() {
        return;
    }
    let answer =
        answers.iter().find(|(known, _)| *known == request.path()).map(|(_, answer)| answer);
    let bytes = match answer {
        None => page(404, "text/html", "<p>not found</p>"),
        Some(Answer::Page(status, body)) if body.starts_with(['{', '[']) => {
            page(*status, "application/json", body)
        }
        Some(Answer::Page(status, body)) => page(*status, "text/html; charset=utf-8", body),
        Some(Answer::Redirect(to)) => {
            format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
                .into_bytes()
        }
        Some(Answer::Raw(bytes)) => bytes.clone(),
        // The client ends the connection.
        Some(Answer::Silence) => return drop(stream.read(&mut [0])),
    };
    // The client may have disconnected.
    let _ = stream.write_all(&bytes);
}

fn page(status: u16, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}
