/**
 * Serves agents over HTTP. `createHandler` returns a `fetch` handler for every host that has `Request`
 * and `Response`. `serve`, from `parley-a2a/server/node`, runs a complete node on Node's HTTP server.
 * Both run the access checks (`auth`, `authenticate`, limits, scopes), route requests to the bindings,
 * and run agents on an engine.
 *
 * ```ts
 * import { createHandler } from 'parley-a2a/server';
 *
 * export default createHandler({ agents: [agent] });
 * ```
 */

export { type KeyRecord, type KeyRing, keyAuth, tokenAuth } from './access/authentication/api-keys.ts';
export type { AuthenticatedIdentity, AuthenticationResult, AuthMethod, CredentialDenial } from './access/authentication/auth-method.ts';
export { type Authenticate, type AuthenticatedCaller, authenticateAsLocal } from './access/authentication/caller.ts';
export { type JwtOptions, jwtAuth } from './access/authentication/jwt.ts';
export { type MutualTlsOptions, mutualTls } from './access/authentication/mtls.ts';
export { CALLER_SCOPES } from './access/authorisation/scopes.ts';
export type { AccessRefusal } from './access/refusal.ts';
export type { AgentLike, ServedAgent } from './agents/served-agent.ts';
export type { NodeActivity } from './assemble.ts';
export type { AuditLog } from './audit/audit.ts';
export type { RemoteAgent } from './config/setting.ts';
export { defineConfig, type ParleyConfig, type Settings } from './config/settings.ts';
export { createHandler, type Handler } from './handler.ts';
export { DEFAULT_SERVER_LIMITS, type ServerLimits } from './limits.ts';
export type { CallRecord } from './observability/call-records.ts';
export { createLog, type Log, type LogLevel } from './observability/log.ts';
export { createMetrics, type Metrics } from './observability/metrics.ts';
export type { HandlerOptions, McpMount, MeshPort, Quota, ServingOptions } from './options.ts';
