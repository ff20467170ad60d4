//! A small web server for pages that tests look at: [`Pages`].

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use crate::http::Request;

/// What a path is answered with.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A page with its status.
    Page(u16, String),
    /// A way to somewhere else.
    Redirect(String),
    /// Bytes as they are, whatever they mean.
    Raw(Vec<u8>),
    /// Nothing, for as long as somebody waits.
    Silence,
}

/// A web server on this machine, for as long as the process lives.
#[derive(Debug, Clone, Copy)]
pub struct Pages {
    port: u16,
}

impl Pages {
    /// Serves answers by their paths; everything else is not found.
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

    /// Its port.
    pub fn port(self) -> u16 {
        self.port
    }

    /// Gives the address of a path.
    pub fn url(self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn answer(mut stream: TcpStream, answers: &[(&'static str, Answer)]) {
    // What is left unread when the connection ends would reset it, and the answer with it.
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
        // The other side ends it.
        Some(Answer::Silence) => return drop(stream.read(&mut [0])),
    };
    // Whoever asked may have left.
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
