import { readdirSync, statfsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Store } from '#engine';
import type { AdminStore, CardSigner, Fetch } from '#protocol';
import type { KeyRecord } from '../access/authentication/api-keys.ts';
import type { AgentLike } from '../agents/served-agent.ts';
import { pathName } from '../agents/served-agent.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Settings } from '../config/settings.ts';
import type { Log, LogOptions } from '../observability/log.ts';
import { createLog } from '../observability/log.ts';
import { METRICS } from '../observability/metric-table.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { McpMount, ServingOptions } from '../options.ts';
import type { AccessFromSettings } from './access-settings.ts';
import { accessFromSettings } from './access-settings.ts';
import { openConfiguredAudit } from './audit/configured.ts';
import type { BackupSchedule } from './backup/schedule.ts';
import type { openData } from './data-folder.ts';
import { adoptOldFolder, dataFolder } from './data-folder.ts';
import { hostingOf } from './hosting.ts';
import { watchIssuer } from './issuer-watch.ts';
import { keyFileWatch } from './key-file-watch.ts';
import type { NodeServer } from './node.ts';
import { serve } from './node.ts';
import { databaseKeys } from './node-api-keys.ts';
import { createOutbound } from './outbound.ts';
import type { ReloadReport } from './reload.ts';
import { createReload, replaceableAuth } from './reload.ts';
import { checkLink } from './replicas/advertise.ts';
import type { AgentTurns } from './replicas/agent-turns.ts';
import { turnsOf } from './replicas/agent-turns.ts';
import type { NodeReplicaOptions } from './replicas/replica.ts';
import { openDataAs, startReplica } from './replicas/start.ts';
import { noteNode, runningNodes } from './running-nodes.ts';
import type { NodeToken } from './secret-files.ts';
import { authFolder } from './secret-files.ts';

/** An agent and the name or file path that it was found by. */
export interface FoundAgent {
  readonly agent: AgentLike;
  readonly source: string;
  /** This node calls a remote agent with a credential of its own. Callers of the agent here use that credential. */
  readonly lendsCredential?: boolean;
  /** Called when the node is ready. A workflow finds the other agents through it. */
  readonly onServed?: (served: ConfiguredServer) => void;
}

/** What a node needs beside its settings. */
export interface ServeConfiguredOptions {
  readonly log: Log;
  readonly onBroken?: (cause: unknown) => void;
  readonly aroundRun?: NonNullable<ServingOptions['aroundRun']>;
  readonly onCall?: NonNullable<ServingOptions['onCall']>;
  /** Default: a new set. */
  readonly metrics?: Metrics;
  readonly metricsText?: NonNullable<ServingOptions['metricsText']>;
  readonly otel?: NonNullable<ServingOptions['otel']>;
  /** Fetches the keys of a token issuer. */
  readonly fetch?: Fetch;
  /** Serves `/mcp`. */
  readonly mcp?: McpMount;
  /** Serves `/console/`, unless the settings turn the console off. */
  readonly console?: ServingOptions['console'];
  /** Serves `/docs/`, unless the settings turn it off. */
  readonly docs?: ServingOptions['docs'];
  readonly replyPublisher?: NonNullable<ServingOptions['replyPublisher']>;
  readonly mesh?: NonNullable<ServingOptions['mesh']>;
  readonly known?: NonNullable<ServingOptions['known']>;
  /** Default `wait`: the data folder may have tasks of agents that are served at another time. */
  readonly missingAgents?: NonNullable<ServingOptions['missingAgents']>;
  readonly signer?: CardSigner;
  /** For tests only: see `NodeReplicaOptions`. */
  readonly repeats?: NodeReplicaOptions['repeats'];
}

/** A running node that was started from settings. */
export interface ConfiguredServer extends NodeServer {
  /** The token of this machine, if callers may use it. */
  readonly token?: NodeToken;
  /** True if callers are not authenticated. */
  readonly isOpen: boolean;
  /** Applies changed settings, and reads certificates and API keys again. Throws before it changes anything if they are wrong. */
  reload(settings: Settings): ReloadReport;
  /** Where tasks are stored. Absent if they are in memory. */
  readonly stored?: StoredData;
  /** This node among several on a database. Absent: its store is its own. */
  readonly turns?: AgentTurns;
}

/** What a node had stored when it started. */
export interface StoredData {
  /** The data folder, or the place of the database. */
  readonly folder: string;
  /** The size of the store's files, without blobs. Absent for a database on a server. */
  readonly bytes?: number;
  readonly tasks: number;
}

/** Starts a node from settings. Opens the data folder first, and closes it again if the start fails. */
export async function serveConfigured(
  found: readonly FoundAgent[],
  settings: Settings,
  { log, metrics = createMetrics(), fetch: get, console: files, docs, repeats, ...passedOn }: ServeConfiguredOptions,
): Promise<ConfiguredServer> {
  const { url, allowedHosts, card, publisher, idempotency, versionRequired, allowedTargets, allowLoopbackTargets } = checkLink(settings);
  const opened: { audit?: AuditLog } = {};
  const onKeys = (before: readonly KeyRecord[], after: readonly KeyRecord[]): void => noteKeys(opened.audit, before, after);
  const [issuer, onKeyFile] = [watchIssuer(settings.jwt.issuer, { log, metrics }), keyFileWatch(log, metrics)];
  const lendsCredential = lender(found, settings, log);
  const keys = await databaseKeys(settings, { onChange: onKeys, onRead: onKeyFile, log });
  const access = (read: Settings): AccessFromSettings =>
    accessFromSettings(read, {
      ...{ runsCommands: commander(found), lendsCredential, onKeys, onIssuer: issuer.fetched, onKeyFile, keys },
      fetch: get ?? issuerFetch(read),
    });
  const { token, ...secured } = access(settings);
  const auth = secured.auth === undefined ? undefined : replaceableAuth(secured.auth);
  const folder = settings.memory ? undefined : folderOf(found, settings, log);
  const backup = settings.backup.to === undefined ? undefined : await import('./backup/configured.ts');
  const place = await backup?.backupPlaceIn(settings, folder);
  const hosting = hostingOf(settings, { ...secured, ...(auth === undefined ? {} : { auth: auth.methods }), log, metrics });
  const replica = folder === undefined ? undefined : await startReplica(settings, { serving: hosting, log, metrics, repeats });
  const { local, ...kept } = folder === undefined ? NOTHING_KEPT : await openDataAs(replica, { folder, log, settings });
  const schedule = backup && place && local && backup.scheduleBackups({ place, ...settings.backup, ...local, log, metrics });
  try {
    if (folder !== undefined && settings.audit) opened.audit = await openConfiguredAudit(folder, settings, log);
    const agents = found.map(({ agent }) => agent);
    const served = await serve(agents, {
      ...hosting,
      ...replica?.serving(),
      ...{ card, publisher, idempotency, versionRequired, allowedTargets, allowLoopbackTargets },
      tellCauses: secured.auth === undefined && url === undefined && allowedHosts.length === 0 && !settings.insecureBehindProxy,
      missingAgents: 'wait',
      agUi: { onHangUp: settings.agUiOnHangUp },
      metrics: folder === undefined ? metrics : withStoreSize(metrics, folder),
      ...kept,
      ...storeFilesWith(kept.storeFiles, schedule),
      ...(replica === undefined ? {} : { replicas: () => replica.shown() }),
      ...opened,
      ...passedOn,
      ...pagesOf({ console: files, docs }, settings),
    });
    replica?.serve(served, kept.store?.cells);
    opened.audit?.append({ principal: '', action: 'server.start', object: served.url, decision: 'allowed', reason: methodsIn(secured) });
    const forget = noteServed(served, settings.authFolder, folder);
    issuer.start(secured.auth);
    void served.handler.ready.then(schedule?.start, () => undefined);
    const close = async (): Promise<void> => {
      forget();
      issuer.stop();
      await schedule?.stop();
      replica?.leave();
      await served.close();
      await Promise.all([replica?.close(), keys?.close()]);
    };
    const stored = folder === undefined || kept.store === undefined ? {} : { stored: await storedIn(folder, kept.store, settings.store) };
    const reload = createReload({ settings, secured, auth, served, access, audit: opened.audit });
    const more = { ...turnsOf(kept.store, replica), ...(token === undefined ? {} : { token }) };
    const node: ConfiguredServer = { ...served, ...stored, ...more, close, reload, isOpen: secured.auth === undefined };
    for (const each of found) each.onServed?.(node);
    return node;
  } catch (thrown) {
    await kept.store?.close();
    await Promise.all([opened.audit?.close(), replica?.close(), keys?.close()]);
    throw thrown;
  }
}

/** Notes for commands on this machine where the node is. Returns what removes the note. */
function noteServed({ url, handler }: NodeServer, named: string | undefined, folder: string | undefined): () => void {
  const agents = handler.agents.map(({ name }) => name);
  return noteNode(authFolder(named), { url, agents, ...(folder === undefined ? {} : { folder }) });
}

/** A node with tasks in memory. */
const NOTHING_KEPT: Partial<Awaited<ReturnType<typeof openData>>> = {};

/** Statistics of the store tell about its backups, too. */
function storeFilesWith(files: AdminStore | undefined, schedule: BackupSchedule | undefined): Pick<ServingOptions, 'storeFiles'> {
  if (files === undefined || schedule === undefined) return {};
  return { storeFiles: { ...files, stats: async () => ({ ...(await files.stats()), backups: schedule.shown() }) } };
}

async function storedIn(folder: string, store: Store, url: string | undefined): Promise<StoredData> {
  const tasks = await store.count({ owner: 'any' });
  if (url === undefined) return { folder, bytes: bytesIn(folder), tasks };
  const { placeOf } = await import('../../engine/adapters/postgres.ts');
  return { folder: placeOf(url), tasks };
}

/** The size of the files in a folder, without the folders in it. */
function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Adds gauges of the size of the store's files, without blobs, and of the free space. */
function withStoreSize(metrics: Metrics, folder: string): Metrics {
  metrics.gauge(METRICS.storeBytes, () => bytesIn(folder));
  metrics.gauge(METRICS.storeFreeBytes, () => freeBytes(folder));
  return metrics;
}

/** 0 if the folder is gone. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

function methodsIn({ auth }: AccessFromSettings): string {
  return auth === undefined ? 'open' : auth.map(({ name }) => name).join(', ');
}

/**
 * The operator chose the issuer, so it may have a private address. Addresses that the issuer names are
 * checked like all others.
 */
function issuerFetch({ jwt: { issuer, jwksUrl }, allowedTargets, allowLoopbackTargets }: Settings): Fetch {
  const namedUrls = [issuer, jwksUrl].filter((url) => url !== undefined);
  const outbound = createOutbound({ allowedTargets, allowLoopbackTargets, namedUrls });
  return outbound.fetchWithin({ bytesMax: 1_048_576, msMax: 10_000 });
}

function lender(found: readonly FoundAgent[], { auth }: Settings, log: Log): string | undefined {
  const agent = found.find((each) => each.lendsCredential === true)?.agent;
  if (agent === undefined) return undefined;
  const name = pathName(agent.card.name);
  if (!auth) log.warn(`DANGEROUS: everybody on this machine can call ${name} with the credential of this node (--no-auth)`);
  return name;
}

function commander(found: readonly FoundAgent[]): string | undefined {
  const agent = found.find((each) => each.agent.runsCommands === true)?.agent;
  return agent === undefined ? undefined : pathName(agent.card.name);
}

/** The console and the documentation, unless the settings turn them off. */
function pagesOf(
  { console: files, docs }: Pick<ServeConfiguredOptions, 'console' | 'docs'>,
  settings: Settings,
): Pick<ServingOptions, 'console' | 'docs' | 'traceUrl'> {
  return {
    ...(settings.traceUrl === undefined ? {} : { traceUrl: settings.traceUrl }),
    ...(files === undefined || !settings.console ? {} : { console: files }),
    ...(docs === undefined || !settings.docs ? {} : { docs }),
  };
}

/** The data folder. Without a configured one it may be the folder of an older version, under its new name. */
function folderOf(found: readonly FoundAgent[], { data, authFolder: named }: Settings, log: Log): string {
  const folder = dataFolder(data);
  if (data === undefined) {
    const isInUse = (old: string): boolean => runningNodes(authFolder(named)).some((node) => node.folder === resolve(old));
    adoptOldFolder(folder, { sources: found.map(({ source }) => source), isInUse, log });
  }
  return folder;
}

/**
 * Records key changes in the audit log. Another process, `parley keys`, creates and revokes keys; this
 * node notices the changed file.
 */
function noteKeys(audit: AuditLog | undefined, before: readonly KeyRecord[], after: readonly KeyRecord[]): void {
  const old = new Map(before.map((key) => [key.id, key]));
  for (const key of after) {
    const known = old.get(key.id);
    const about = { principal: '', object: key.id, decision: 'allowed', reason: `key:${key.name}` } as const;
    if (known === undefined) audit?.append({ ...about, action: 'keys.create' });
    else if (known.revokedAt === undefined && key.revokedAt !== undefined) audit?.append({ ...about, action: 'keys.revoke' });
  }
}

/** A log on standard error. It never contains the tokens of the configuration. `settings.log` may change. */
export function logFor(
  settings: Pick<Settings, 'log' | 'a2a' | 'token'>,
  shape: Partial<Pick<LogOptions, 'write' | 'format' | 'onLine' | 'fields'>> = {},
): Log {
  const { a2a, token } = settings;
  const secrets = Object.values(a2a.remoteAgents).flatMap(({ authToken }) => (authToken === undefined ? [] : [authToken]));
  return createLog({
    level: () => settings.log,
    write: (line) => process.stderr.write(line),
    secrets: token === undefined ? secrets : [...secrets, token],
    ...shape,
  });
}
