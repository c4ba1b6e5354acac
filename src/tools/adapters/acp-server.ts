/** The agent's side of the Agent Client Protocol, with its official SDK: A2A agents for editors. */
export { type AcpServerOptions, serveAcp } from './acp-server/serve.ts';
