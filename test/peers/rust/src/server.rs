//! The test agent on the Rust SDK's server. PEER_BINDING names the only binding of its card; otherwise it has JSON-RPC and HTTP+JSON.
use std::sync::Arc;

use a2a::event::StreamResponse;
use a2a::*;
use a2a_grpc::GrpcHandler;
use a2a_pb::proto::a2a_service_server::A2aServiceServer;
use a2a_server::*;
use futures::stream::BoxStream;
use tokio::net::TcpListener;
use tokio::sync::mpsc::Sender;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};

use crate::behaviour::behave;

type Event = Result<StreamResponse, A2AError>;

/// What the test agent says.
pub struct Out {
    events: Sender<Event>,
    message: Message,
    task_id: String,
    context_id: String,
}

impl Out {
    pub fn is_closed(&self) -> bool {
        self.events.is_closed()
    }

    pub async fn text(&self, chunk: &str, is_first: bool) {
        self.artifact(vec![Part::text(chunk)], !is_first).await;
    }

    pub async fn ask(&self, question: &str) {
        self.status(TaskState::InputRequired, Some(question)).await;
    }

    pub async fn sign_in(&self, request: &str) {
        self.status(TaskState::AuthRequired, Some(request)).await;
    }

    pub async fn fail(&self, reason: &str) {
        self.status(TaskState::Failed, Some(reason)).await;
    }

    /// Sends the file and data parts of the message back.
    pub async fn echo(&self) {
        let parts = self.message.parts.iter().filter(|part| part.as_text().is_none()).cloned().collect();
        self.artifact(parts, false).await;
    }

    pub async fn complete(&self) {
        self.status(TaskState::Completed, None).await;
    }

    async fn status(&self, state: TaskState, text: Option<&str>) {
        let message = text.map(|text| Message {
            task_id: Some(self.task_id.clone()),
            context_id: Some(self.context_id.clone()),
            ..Message::new(Role::Agent, vec![Part::text(text)])
        });
        self.send(status_event(&self.task_id, &self.context_id, state, message)).await;
    }

    async fn artifact(&self, parts: Vec<Part>, append: bool) {
        let artifact = Artifact {
            artifact_id: "answer".into(),
            name: None,
            description: None,
            parts,
            metadata: None,
            extensions: None,
        };
        self.send(StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.task_id.clone(),
            context_id: self.context_id.clone(),
            artifact,
            append: Some(append),
            last_chunk: None,
            metadata: None,
        }))
        .await;
    }

    /// Nobody may read any more.
    async fn send(&self, event: StreamResponse) {
        let _ = self.events.send(Ok(event)).await;
    }
}

fn status_event(task_id: &str, context_id: &str, state: TaskState, message: Option<Message>) -> StreamResponse {
    StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
        task_id: task_id.into(),
        context_id: context_id.into(),
        status: TaskStatus { state, message, timestamp: Some(chrono::Utc::now()) },
        metadata: None,
    })
}

struct Executor;

impl AgentExecutor for Executor {
    fn execute(&self, run: ExecutorContext) -> BoxStream<'static, Event> {
        let (events, stream) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            let message = run.message.unwrap();
            let out = Out { events, message, task_id: run.task_id, context_id: run.context_id };
            out.status(TaskState::Working, None).await;
            let text = out.message.text().unwrap_or_default().to_string();
            behave(&text, &out.context_id, &out.task_id, &out).await;
        });
        Box::pin(ReceiverStream::new(stream))
    }

    fn cancel(&self, run: ExecutorContext) -> BoxStream<'static, Event> {
        let event = status_event(&run.task_id, &run.context_id, TaskState::Canceled, None);
        Box::pin(futures::stream::once(async { Ok(event) }))
    }
}

fn card(interfaces: Vec<AgentInterface>) -> AgentCard {
    AgentCard {
        name: "peer-test".into(),
        description: "The test agent of test/peers on the Rust SDK.".into(),
        version: "1".into(),
        supported_interfaces: interfaces,
        capabilities: AgentCapabilities { streaming: Some(true), ..Default::default() },
        default_input_modes: vec!["text/plain".into()],
        default_output_modes: vec!["text/plain".into()],
        skills: vec![AgentSkill {
            id: "talk".into(),
            name: "talk".into(),
            description: "Talks.".into(),
            tags: vec!["test".into()],
            examples: None,
            input_modes: None,
            output_modes: None,
            security_requirements: None,
        }],
        provider: None,
        documentation_url: None,
        icon_url: None,
        security_schemes: None,
        security_requirements: None,
        signatures: None,
    }
}

pub async fn serve(port: &str) {
    let handler = Arc::new(DefaultRequestHandler::new(Executor, InMemoryTaskStore::new()));
    let base = format!("http://127.0.0.1:{port}");
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
    let rpc_listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let rpc_address = rpc_listener.local_addr().unwrap().to_string();
    let only = std::env::var("PEER_BINDING").ok();
    let offered = [
        AgentInterface::new(format!("{base}/rpc"), TRANSPORT_PROTOCOL_JSONRPC),
        AgentInterface::new(format!("{base}/rest"), TRANSPORT_PROTOCOL_HTTP_JSON),
        AgentInterface::new(rpc_address, TRANSPORT_PROTOCOL_GRPC),
    ]
    .into_iter()
    .filter(|each| only.as_ref().map_or(each.protocol_binding != TRANSPORT_PROTOCOL_GRPC, |one| &each.protocol_binding == one))
    .collect();
    let app = axum::Router::new()
        .nest("/rpc", a2a_server::jsonrpc::jsonrpc_router(handler.clone()))
        .nest("/rest", a2a_server::rest::rest_router(handler.clone()))
        .merge(a2a_server::agent_card::agent_card_router(Arc::new(StaticAgentCard::new(card(offered)))));
    let rpc = tonic::transport::Server::builder()
        .add_service(A2aServiceServer::new(GrpcHandler::new(handler)))
        .serve_with_incoming(TcpListenerStream::new(rpc_listener));
    println!("ready");
    let (http, grpc) = tokio::join!(axum::serve(listener, app), rpc);
    http.unwrap();
    grpc.unwrap();
}
