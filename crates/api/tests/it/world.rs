//! An installation in memory, and a client that speaks to its router.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::body::{Body, to_bytes};
use gonets_core::{
    clock::SystemClock,
    ids::{AttemptId, MessageId},
    profile::Profiles,
    time::{Clock, Timestamp},
};
use gonets_egress::{Egress, EgressConfig, Ports};
use gonets_engine::Parts;
use gonets_service::{Service, Settings};
use gonets_store::{
    engine::{BackupDone, Engine, Fatal, Load, Tended},
    model::Model,
    tx::{Tx, Verdict},
};
use gonets_wire::{Keyring, MasterKey};
use http::{Request, Response};
use serde_json::Value;
use tokio::{sync::watch, time::timeout};
use tower::ServiceExt;

pub struct World {
    pub service: Arc<Service>,
    router: axum::Router,
    pub token: String,
    outcomes: watch::Receiver<usize>,
    clock: Arc<AheadClock>,
}

/// The system's clock, which a test may set ahead.
struct AheadClock {
    clock: SystemClock,
    ahead_ms: AtomicU64,
}

impl Clock for AheadClock {
    fn now(&self) -> Timestamp {
        self.clock.now() + Duration::from_millis(self.ahead_ms.load(Ordering::Relaxed))
    }

    fn wall(&self) -> Timestamp {
        self.clock.wall() + Duration::from_millis(self.ahead_ms.load(Ordering::Relaxed))
    }
}

/// The store in memory, counting the outcomes that it was given.
struct Counting {
    model: Model,
    outcomes: watch::Sender<usize>,
}

impl Engine for Counting {
    fn commit(&mut self, now: Timestamp, batch: &[Tx]) -> Result<Vec<Verdict>, Fatal> {
        let verdicts = self.model.commit(now, batch)?;
        let outcomes = batch.iter().filter(|tx| matches!(tx, Tx::Outcome(_))).count();
        self.outcomes.send_modify(|count| *count += outcomes);
        Ok(verdicts)
    }

    fn last_ids(&mut self) -> Result<(MessageId, AttemptId), Fatal> {
        self.model.last_ids()
    }

    fn shift_due(&mut self, after: Timestamp, by: Duration) -> Result<(), Fatal> {
        self.model.shift_due(after, by)
    }

    fn tend(&mut self, now: Timestamp, load: Load) -> Result<Tended, Fatal> {
        self.model.tend(now, load)
    }

    fn start_backup(&mut self, target: &Path, done: BackupDone) {
        self.model.start_backup(target, done);
    }

    fn close(self: Box<Self>) -> Result<(), Fatal> {
        Box::new(self.model).close()
    }
}

/// An answer: its status and its body as text.
pub struct Answer {
    pub status: u16,
    pub text: String,
    pub retry_after: Option<String>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    pub fn id(&self) -> String {
        self.json()["id"].as_str().unwrap_or_else(|| panic!("no id: {}", self.text)).to_owned()
    }

    /// The status was as expected.
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }
}

impl World {
    pub async fn new() -> Self {
        Self::with_profile("standard").await
    }

    pub async fn with_profile(profile: &str) -> Self {
        Self::with_limit(profile, 1000).await
    }

    /// With another limit on payloads than 1,000 bytes.
    pub async fn with_limit(profile: &str, payload_bytes: usize) -> Self {
        let profiles = Profiles::builtin();
        let model = Model::new();
        let egress = Egress::new(EgressConfig {
            allow_networks: vec!["127.0.0.0/8".parse().unwrap()],
            allow_http: true,
            allow_ports: Ports::Any,
            ..EgressConfig::default()
        })
        .unwrap();
        let clock = Arc::new(AheadClock { clock: SystemClock::start(), ahead_ms: AtomicU64::new(0) });
        let (counter, outcomes) = watch::channel(0);
        let engine = gonets_engine::start(Parts {
            store: Box::new(Counting { model: model.clone(), outcomes: counter }),
            queries: Arc::new(model),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            egress,
            default_profile: profiles.get(profile).unwrap().clone(),
            profiles,
            keyring: Keyring::new(vec![(1, MasterKey::generate().unwrap())]).unwrap(),
            bounds: Default::default(),
            set_forward: None,
            mailer: None,
            seed: 1,
            fatal: Box::new(|fatal| panic!("{fatal}")),
        })
        .await
        .unwrap();
        let service = Arc::new(Service::new(engine, Settings { payload_bytes }));
        let environment = service.ensure_environment("default").await.unwrap();
        service.ensure_admin_key(&environment.admin(), "test", "test-key").await.unwrap();
        let router = gonets_api::router(Arc::clone(&service));
        Self { service, router, token: "test-key".into(), outcomes, clock }
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response: Response<Body> = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let retry_after = response.headers().get("retry-after").map(|v| v.to_str().unwrap().to_owned());
        let bytes = to_bytes(response.into_body(), 1 << 24).await.unwrap();
        Answer { status, text: String::from_utf8(bytes.to_vec()).unwrap(), retry_after }
    }

    fn request(&self, method: &str, path: &str) -> http::request::Builder {
        Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header("authorization", format!("Bearer {}", self.token))
    }

    pub async fn call(&self, method: &str, path: &str, body: &str) -> Answer {
        self.send(self.request(method, path).body(Body::from(body.to_owned())).unwrap()).await
    }

    /// An answer whose body is not taken.
    pub async fn untaken(&self, path: &str) -> Response<Body> {
        let request = self.request("GET", path).body(Body::empty()).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, "").await
    }

    pub async fn post(&self, path: &str, body: &str) -> Answer {
        self.call("POST", path, body).await
    }

    pub async fn post_with_key(&self, path: &str, key: &str, body: &str) -> Answer {
        let request = self.request("POST", path).header("idempotency-key", key);
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    /// Sets the clock ahead.
    pub fn pass(&self, time: Duration) {
        self.clock.ahead_ms.fetch_add(time.as_millis() as u64, Ordering::Relaxed);
    }

    /// Waits until so many outcomes of attempts are in the journal, and everyone knows.
    pub async fn outcomes(&self, count: usize) {
        let mut outcomes = self.outcomes.clone();
        let coming = outcomes.wait_for(|made| *made >= count);
        timeout(Duration::from_secs(20), coming).await.expect("the outcomes never came").unwrap();
        // What is written after them is answered after they were told.
        self.call("PUT", "/event-type/after.them", r#"{"description":""}"#).await;
    }

    /// An application with this uid.
    pub async fn app(&self, uid: &str) -> String {
        self.post("/app", &format!(r#"{{"name":"{uid}","uid":"{uid}"}}"#)).await.is(201).id()
    }

    /// The same installation, asked with another key.
    pub fn with_token(&self, token: &str) -> Self {
        Self {
            service: Arc::clone(&self.service),
            router: self.router.clone(),
            token: token.to_owned(),
            outcomes: self.outcomes.clone(),
            clock: Arc::clone(&self.clock),
        }
    }
}
