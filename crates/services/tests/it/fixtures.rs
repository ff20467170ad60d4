//! Fakes in the same process, and a clock whose waits end at once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_sandbox::{Key, KeySource, Keys};
use assay_services::http::{
    Request, Response, ServiceClock, Transport, TransportError, WaitRefused,
};
use assay_testkit::web::{Answer, Service, ServiceRequest};

/// A transport to a service in the same process.
pub(crate) struct DirectTransport(pub(crate) Arc<dyn Service>);

impl Transport for DirectTransport {
    fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let headers = request.headers.iter().map(|(name, value)| (name.to_string(), value.clone()));
        let asked = ServiceRequest {
            method: request.method.as_str().to_owned(),
            target: request.target.clone(),
            headers: headers.collect(),
            body: request.body.clone().unwrap_or_default(),
        };
        match self.0.answer(&asked) {
            Some(Answer { status, headers, body }) => Ok(Response { status, headers, body }),
            None => Err(TransportError::Network {
                why: "the connection was cut".to_owned(),
                may_have_arrived: true,
            }),
        }
    }

    fn address(&self) -> String {
        "https://service.example".to_owned()
    }
}

/// A clock whose waits end at once; it records their durations.
#[derive(Default)]
pub(crate) struct RecordingClock(Mutex<Vec<u64>>);

impl RecordingClock {
    pub(crate) fn seconds(&self) -> Vec<u64> {
        self.0.lock().unwrap().clone()
    }
}

impl ServiceClock for RecordingClock {
    fn now(&self) -> Duration {
        Duration::from_secs(1_000_000)
    }

    fn wait(&self, time: Duration, _: &str) -> Result<(), WaitRefused> {
        if time > Duration::from_secs(600) {
            return Err(WaitRefused);
        }
        self.0.lock().unwrap().push(time.as_secs());
        Ok(())
    }
}

pub(crate) fn keys(key: &str) -> Arc<Keys> {
    let value = Some(Key::new(key));
    Arc::new(Keys::new(KeySource::Variable { name: "A_TOKEN".to_owned(), value }))
}
