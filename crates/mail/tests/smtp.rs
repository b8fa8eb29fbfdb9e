//! Mails to a real socket.

mod support;

use gonets_core::{
    notice::{Facts, NoticeKind},
    time::Timestamp,
};
use gonets_mail::{Digest, Item, Language, Mailer, Security, Settings};
use support::Sink;

fn settings(port: u16, language: Language) -> Settings {
    Settings {
        host: "127.0.0.1".into(),
        port: Some(port),
        security: Security::None,
        user: None,
        password: None,
        from: "Gonets <gonets@example.com>".into(),
        operator: Some("ops@example.com".into()),
        language,
        public_url: Some("https://webhooks.example".into()),
    }
}

fn digest() -> Digest {
    Digest {
        id: "notices-42".into(),
        to: vec!["anna@example.com".into(), "boris@example.com".into()],
        application: "Лавка".into(),
        items: vec![Item {
            kind: NoticeKind::EndpointDisabled,
            at: NOW,
            endpoint: Some("https://shop.example/hooks".into()),
            facts: Facts { reason: Some("gone".into()), ..Facts::default() },
        }],
        more: 0,
    }
}

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

#[tokio::test]
async fn a_digest_arrives_with_its_addresses_its_date_and_a_stable_id() {
    for language in [Language::English, Language::Russian] {
        let mut sink = Sink::start(&[]).await;
        let mailer = Mailer::new(settings(sink.port, language)).expect("the settings are right");
        mailer.send(&digest(), NOW).await.expect("the sink takes it");
        let mail = sink.mails.recv().await.expect("a mail");
        assert!(mail.from.contains("<gonets@example.com>"), "{}", mail.from);
        assert_eq!(mail.to.len(), 2);
        assert!(mail.data.contains("Message-ID: <notices-42@example.com>"), "{}", mail.data);
        assert!(mail.data.contains("Date: Fri, 15 Jan 2027 08:00:00"), "{}", mail.data);
        assert!(mail.data.contains("Subject: =?utf-8?"), "{}", mail.data);
        assert!(mail.data.to_lowercase().contains("charset=utf-8"), "{}", mail.data);
    }
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again_and_one_that_refuses_is_not() {
    for (answer, is_temporary) in [("450 busy\r\n", true), ("550 nobody here\r\n", false)] {
        let sink = Sink::start(&[answer]).await;
        let mailer = Mailer::new(settings(sink.port, Language::English)).expect("the settings are right");
        let error = mailer.send(&digest(), NOW).await.expect_err("it is refused");
        assert_eq!(error.is_temporary(), is_temporary, "{error}");
    }
    let closed = {
        let sink = Sink::start(&[]).await;
        sink.port
    };
    let mailer = Mailer::new(Settings { host: "127.0.0.2".into(), ..settings(closed, Language::English) })
        .expect("the settings are right");
    assert!(mailer.send(&digest(), NOW).await.expect_err("nobody is there").is_temporary());
}

#[tokio::test]
async fn no_address_begins_a_header_of_its_own() {
    let sink = Sink::start(&[]).await;
    let mailer = Mailer::new(settings(sink.port, Language::English)).expect("the settings are right");
    let mut bad = digest();
    bad.to = vec!["anna@example.com\r\nBcc: all@example.com".into(), "nonsense".into()];
    let error = mailer.send(&bad, NOW).await.expect_err("none of them is one");
    assert!(!error.is_temporary() && error.to_string().contains("none of the addresses"), "{error}");
    let bad = Settings { from: "nonsense".into(), ..settings(1, Language::English) };
    assert!(Mailer::new(bad).is_err());
}
