//! Reads one JSON command a line from standard input, calls the SDK's client with it, and writes one JSON result a line.
use std::sync::Arc;

use a2a::event::StreamResponse;
use a2a::*;
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::auth::AuthInterceptor;
use a2a_client::{A2AClient, A2AClientFactory, Transport};
use a2a_grpc::GrpcTransportFactory;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::replies::{event_reply, message_reply, request, task_reply};

type Client = A2AClient<Box<dyn Transport>>;
type Events = BoxStream<'static, Result<StreamResponse, A2AError>>;

pub async fn drive(url: &str, binding: &str) {
    let mut card = AgentCardResolver::new(None).resolve(url).await.unwrap();
    card.supported_interfaces.retain(|each| each.protocol_binding == binding);
    let mut builder = A2AClientFactory::builder().register(Arc::new(GrpcTransportFactory::new()));
    if let Ok(token) = std::env::var("PEER_TOKEN") {
        builder = builder.with_interceptor(Arc::new(AuthInterceptor::bearer(token)));
    }
    let client = builder.build().create_from_card(&card).await.unwrap();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        let command: Value = serde_json::from_str(&line).unwrap();
        let answer = match run(&client, &command).await {
            Ok(result) => json!({ "result": result }),
            Err(error) => json!({ "error": { "message": error.message, "code": error.code } }),
        };
        println!("{answer}");
    }
}

async fn run(client: &Client, command: &Value) -> Result<Value, A2AError> {
    let id = || command["taskId"].as_str().unwrap_or_default().to_string();
    match command["op"].as_str().unwrap() {
        "send" => match client.send_message(&request(command)).await? {
            SendMessageResponse::Task(task) => Ok(task_reply(task)),
            SendMessageResponse::Message(message) => Ok(message_reply(message)),
        },
        "stream" => {
            let mut events = client.send_streaming_message(&request(command)).await?;
            let mut seen = vec![];
            while let Some(event) = events.next().await {
                seen.push(event_reply(event?));
            }
            Ok(json!(seen))
        }
        "begin" => first(client.send_streaming_message(&request(command)).await?, |reply| reply["taskId"].is_string()).await,
        "subscribe" => {
            let events = client.subscribe_to_task(&SubscribeToTaskRequest { id: id(), tenant: None }).await?;
            first(events, |reply| reply["texts"].as_array().is_some_and(|texts| !texts.is_empty())).await
        }
        "push" => push(client, id(), command).await,
        "get" => Ok(task_reply(client.get_task(&GetTaskRequest { id: id(), history_length: None, tenant: None }).await?)),
        "cancel" => Ok(task_reply(client.cancel_task(&CancelTaskRequest { id: id(), metadata: None, tenant: None }).await?)),
        _ => list(client, command).await,
    }
}

/// The first event that fits. The stream is read on.
async fn first(mut events: Events, fits: impl Fn(&Value) -> bool) -> Result<Value, A2AError> {
    while let Some(event) = events.next().await {
        let reply = event_reply(event?);
        if fits(&reply) {
            tokio::spawn(async move { while events.next().await.is_some() {} });
            return Ok(reply);
        }
    }
    Err(A2AError::internal("the stream ended before the event"))
}

async fn push(client: &Client, task_id: String, command: &Value) -> Result<Value, A2AError> {
    let url = command["url"].as_str().unwrap().to_string();
    let config = TaskPushNotificationConfig { url, id: None, task_id, token: None, authentication: None, tenant: None };
    client.create_push_config(&config).await?;
    Ok(Value::Null)
}

async fn list(client: &Client, command: &Value) -> Result<Value, A2AError> {
    let wanted = ListTasksRequest {
        context_id: command["contextId"].as_str().map(String::from),
        status: None,
        page_size: None,
        page_token: None,
        history_length: None,
        status_timestamp_after: None,
        include_artifacts: None,
        tenant: None,
    };
    let page = client.list_tasks(&wanted).await?;
    Ok(json!(page.tasks.into_iter().map(|task| task.id).collect::<Vec<_>>()))
}
