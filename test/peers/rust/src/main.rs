//! One side of the conversations of test/peers on the Rust SDK: `peer client URL BINDING` or `peer server PORT`.
mod behaviour;
mod client;
mod replies;
mod server;

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "server" => server::serve(&args[2]).await,
        _ => client::drive(&args[2], &args[3]).await,
    }
}
