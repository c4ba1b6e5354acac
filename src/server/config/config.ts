import type { EngineLimits } from '#engine';
import type { AgentLike } from '../agents/served-agent.ts';
import type { ServerLimits } from '../limits.ts';
import type { LogLevel } from '../observability/log.ts';
import type { MeshGrammar } from './mesh-keys.ts';
import type { RunSettings } from './run-keys.ts';

/** What `parley.config.ts` or `parley.config.json` holds. docs/config.md says what each means. */
export interface ParleyConfig {
  readonly agents?: readonly (string | AgentLike)[];
  readonly port?: number;
  readonly host?: string;
  readonly url?: string;
  readonly data?: string;
  readonly memory?: boolean;
  readonly auth?: boolean;
  readonly authRequired?: boolean;
  readonly authFolder?: string;
  readonly token?: string;
  readonly insecureBehindProxy?: boolean;
  readonly trustedProxies?: readonly string[];
  readonly socket?: string;
  readonly audit?: boolean;
  readonly tls?: TlsBlock;
  readonly jwt?: JwtBlock;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly allowedTargets?: readonly string[];
  readonly allowLoopbackTargets?: boolean;
  readonly console?: boolean;
  readonly card?: 'superset' | 'strict';
  readonly publisher?: string;
  readonly idempotency?: 'key' | 'messageId';
  readonly versionRequired?: boolean;
  readonly mesh?: string;
  readonly namespace?: string;
  readonly meshGrammar?: MeshGrammar;
  readonly meshRoot?: string;
  readonly meshPools?: readonly string[];
  readonly meshInstance?: string;
  readonly meshScopes?: readonly string[];
  readonly artifacts?: string;
  readonly log?: LogLevel;
  readonly limits?: Partial<ServerLimits & EngineLimits>;
  /** Agents that run programs: coding CLIs and commands. */
  readonly run?: { readonly [Name in keyof RunSettings]?: Exclude<RunSettings[Name], undefined> };
  readonly a2a?: A2aBlock;
}

/** PEM files, and who may call by certificate. */
export interface TlsBlock {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
  readonly clients?: readonly string[];
  readonly scopes?: readonly string[];
}

/** Whose tokens are taken, and what for. */
export interface JwtBlock {
  readonly issuer?: string;
  readonly audience?: readonly string[];
  readonly algorithms?: readonly string[];
  readonly jwksUrl?: string;
  readonly tenantClaim?: string;
  readonly scopes?: readonly string[];
}

/** The block that CortexPrism's documents show (reference/seeds/004), taken as it stands. Our own keys win over it. */
export interface A2aBlock {
  readonly enabled?: boolean;
  readonly server?: {
    readonly port?: number;
    readonly bindAddress?: string;
    readonly allowedOrigins?: readonly string[];
  };
  readonly remoteAgents?: Readonly<Record<string, RemoteAgent>>;
  readonly MAX_TASKS?: number;
  readonly MAX_CONTEXTS?: number;
  readonly TASK_TTL_MS?: number;
  readonly IDLE_CLEANUP_INTERVAL_MS?: number;
}

/** An agent elsewhere, under a name that stands wherever its address could. */
export interface RemoteAgent {
  readonly endpoint: string;
  readonly agentCardUrl?: string;
  readonly authToken?: string;
  /** In milliseconds. */
  readonly timeout?: number;
}

/** For the types alone: an editor completes and checks what stands inside. */
export function defineConfig(config: ParleyConfig): ParleyConfig {
  return config;
}
