//! What the test agent does with a message; test/peers/agent.ts answers to the same words.
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use crate::server::Out;

#[derive(Default)]
struct Memory {
    remembered: HashMap<String, String>,
    asked: HashSet<String>,
}

static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(Mutex::default);

pub async fn behave(text: &str, context: &str, task: &str, out: &Out) {
    let (word, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let was_asked = MEMORY.lock().unwrap().asked.remove(task);
    match word {
        _ if was_asked => out.text(&format!("You chose {text}."), true).await,
        "chunks" => count(rest.parse().unwrap(), 0, out).await,
        "work" => count(600, 100, out).await,
        "remember" => {
            MEMORY.lock().unwrap().remembered.insert(context.into(), rest.into());
            out.text(&format!("I will remember {rest}."), true).await
        }
        "recall" => {
            let memory = MEMORY.lock().unwrap().remembered.get(context).cloned();
            out.text(memory.as_deref().unwrap_or("nothing"), true).await
        }
        "question" => {
            MEMORY.lock().unwrap().asked.insert(task.into());
            return out.ask("Which color?").await;
        }
        "sign-in" => {
            MEMORY.lock().unwrap().asked.insert(task.into());
            return out.sign_in("Sign in first.").await;
        }
        "parts" => out.echo().await,
        "fail" => return out.fail("it broke").await,
        "slow" => {
            tokio::time::sleep(Duration::from_secs(rest.parse().unwrap())).await;
            out.text(&format!("waited {rest} s"), true).await
        }
        _ => out.text(&format!("echo: {text}"), true).await,
    }
    out.complete().await;
}

async fn count(last: u32, pause_ms: u64, out: &Out) {
    for at in 1..=last {
        if out.is_closed() {
            return;
        }
        out.text(&format!("{at} "), at == 1).await;
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
    }
}
