//! An installation in memory, and a client that speaks to its router.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use gonets_core::{clock::SystemClock, profile::Profiles};
use gonets_egress::{Egress, EgressConfig, Ports};
use gonets_engine::Parts;
use gonets_service::{Service, Settings};
use gonets_store::model::Model;
use gonets_wire::{Keyring, MasterKey};
use http::{Request, Response};
use serde_json::Value;
use tower::ServiceExt;

pub struct World {
    pub service: Arc<Service>,
    router: axum::Router,
    pub token: String,
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
        let profiles = Profiles::builtin();
        let model = Model::new();
        let egress = Egress::new(EgressConfig {
            allow_networks: vec!["127.0.0.0/8".parse().unwrap()],
            allow_http: true,
            allow_ports: Ports::Any,
            ..EgressConfig::default()
        })
        .unwrap();
        let engine = gonets_engine::start(Parts {
            store: Box::new(model.clone()),
            queries: Arc::new(model),
            clock: Arc::new(SystemClock::start()),
            egress,
            default_profile: profiles.get(profile).unwrap().clone(),
            profiles,
            keyring: Keyring::new(vec![(1, MasterKey::generate().unwrap())]).unwrap(),
            bounds: Default::default(),
            seed: 1,
            fatal: Box::new(|fatal| panic!("{fatal}")),
        })
        .await
        .unwrap();
        let service = Arc::new(Service::new(engine, Settings { payload_bytes: 1000 }));
        let environment = service.ensure_environment("default").await.unwrap();
        service.ensure_admin_key(&environment.admin(), "test", "test-key").await.unwrap();
        let router = gonets_api::router(Arc::clone(&service));
        Self { service, router, token: "test-key".into() }
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

    /// An application with this uid.
    pub async fn app(&self, uid: &str) -> String {
        self.post("/app", &format!(r#"{{"name":"{uid}","uid":"{uid}"}}"#)).await.is(201).id()
    }

    /// The same installation, asked with another key.
    pub fn with_token(&self, token: &str) -> Self {
        Self { service: Arc::clone(&self.service), router: self.router.clone(), token: token.to_owned() }
    }
}
