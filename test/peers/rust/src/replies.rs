//! Reduces what the SDK reads to replies (test/peers/talk.ts, Reply), and makes its messages.
use a2a::event::StreamResponse;
use a2a::*;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub fn request(say: &Value) -> SendMessageRequest {
    let text = |value: &Value| value.as_str().map(String::from);
    let mut parts = vec![Part::text(text(&say["text"]).unwrap())];
    if let Some(bytes) = say["file"]["base64"].as_str() {
        let part = Part::raw(STANDARD.decode(bytes).unwrap());
        parts.push(part.with_filename(text(&say["file"]["name"]).unwrap()).with_media_type(text(&say["file"]["mediaType"]).unwrap()));
    }
    if say["data"].is_object() {
        parts.push(Part::data(say["data"].clone()));
    }
    let message =
        Message { context_id: text(&say["contextId"]), task_id: text(&say["taskId"]), ..Message::new(Role::User, parts) };
    SendMessageRequest { message, configuration: None, metadata: None, tenant: None }
}

pub fn event_reply(event: StreamResponse) -> Value {
    match event {
        StreamResponse::Task(task) => task_reply(task),
        StreamResponse::Message(message) => message_reply(message),
        StreamResponse::StatusUpdate(update) => {
            with_status(parts_reply(Some(update.task_id), Some(update.context_id), vec![]), &update.status)
        }
        StreamResponse::ArtifactUpdate(update) => {
            parts_reply(Some(update.task_id), Some(update.context_id), update.artifact.parts)
        }
    }
}

pub fn task_reply(task: Task) -> Value {
    let parts = task.artifacts.unwrap_or_default().into_iter().flat_map(|artifact| artifact.parts).collect();
    with_status(parts_reply(Some(task.id), Some(task.context_id), parts), &task.status)
}

pub fn message_reply(message: Message) -> Value {
    let mut reply = parts_reply(None, message.context_id, message.parts);
    reply["state"] = json!("completed");
    reply
}

fn with_status(mut reply: Value, status: &TaskStatus) -> Value {
    let name = serde_json::to_value(&status.state).unwrap();
    let state = name.as_str().unwrap().trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-");
    reply["state"] = json!(state);
    if let Some(message) = &status.message {
        reply["note"] = json!(message.text().unwrap_or_default());
    }
    reply
}

fn parts_reply(task_id: Option<String>, context_id: Option<String>, parts: Vec<Part>) -> Value {
    let mut reply = json!({ "texts": [], "files": [], "data": [] });
    if let Some(id) = task_id {
        reply["taskId"] = json!(id);
    }
    if let Some(id) = context_id {
        reply["contextId"] = json!(id);
    }
    for part in parts {
        let (list, value) = match part.content {
            PartContent::Text(text) => ("texts", json!(text)),
            PartContent::Data(data) => ("data", data),
            PartContent::Raw(bytes) => {
                ("files", json!({ "name": part.filename, "mediaType": part.media_type, "base64": STANDARD.encode(bytes) }))
            }
            PartContent::Url(_) => continue,
        };
        reply[list].as_array_mut().unwrap().push(value);
    }
    reply
}
