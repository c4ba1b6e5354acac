import type { AgentConnection, AgentContext, ClientCapabilities, SessionModeState, Stream } from '@agentclientprotocol/sdk';
import { agent as acpAgent, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type { AgentCard, Metadata } from '#protocol';
import type { Remote } from '../../agent-tools.ts';
import type { ReadEditorFile } from './content.ts';
import { partsOfPrompt } from './content.ts';
import type { EditorSession } from './prompt.ts';
import { runPrompt } from './prompt.ts';
import { listSessions, replayOf, tasksOf, waitingIn } from './sessions.ts';

/** Options of `serveAcp`. */
export interface AcpServerOptions {
  /** Modes of the agent, sent to it as `metadata.mode`. Its skills are modes as well. */
  readonly modes?: readonly string[];
  /** Name and version that the editor shows. */
  readonly version?: string;
  /** Gets errors that the editor does not see. */
  readonly onError?: (thrown: unknown) => void;
}

const DEFAULT_MODE = 'default';

/**
 * Lets an editor use an A2A agent: the agent's side of the Agent Client Protocol. A session is a
 * context, a prompt is a message, an approval is a permission request.
 */
export function serveAcp(remote: Remote, stream: Stream, options: AcpServerOptions = {}): AgentConnection {
  const sessions = new Map<string, EditorSession>();
  let capabilities: ClientCapabilities = {};
  const open = (id: string): EditorSession => {
    const made: EditorSession = { id, context: id, mode: DEFAULT_MODE, waiting: undefined, running: undefined };
    sessions.set(id, made);
    return made;
  };
  const sessionOf = (id: string): EditorSession => sessions.get(id) ?? open(id);
  const continued = async (id: string, client: AgentContext | undefined): Promise<{ readonly modes?: SessionModeState }> => {
    const reached = await remote.get();
    const tasks = await tasksOf(reached, id);
    if (tasks.length === 0) throw RequestError.resourceNotFound(id);
    open(id).waiting = waitingIn(tasks);
    if (client !== undefined)
      for (const update of replayOf(tasks)) await client.notify(methods.client.session.update, { sessionId: id, update });
    return modesOf(reached.card, options);
  };
  const app = acpAgent({ name: 'parley' })
    .onRequest(methods.agent.initialize, async ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      const { card } = await remote.get();
      return {
        protocolVersion: Math.min(params.protocolVersion, PROTOCOL_VERSION),
        agentInfo: { name: card.name, version: card.version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: true, embeddedContext: true },
          sessionCapabilities: { list: {}, resume: {}, close: {} },
        },
        authMethods: [],
      };
    })
    .onRequest(methods.agent.authenticate, () => ({}))
    .onRequest(methods.agent.session.new, async () => {
      const { card } = await remote.get();
      return { sessionId: open(crypto.randomUUID()).id, ...modesOf(card, options) };
    })
    .onRequest(methods.agent.session.list, async ({ params }) => await listSessions(await remote.get(), params))
    .onRequest(methods.agent.session.load, ({ params, client }) => continued(params.sessionId, client))
    .onRequest(methods.agent.session.resume, ({ params }) => continued(params.sessionId, undefined))
    .onRequest(methods.agent.session.close, ({ params }) => {
      sessions.get(params.sessionId)?.running?.abort();
      sessions.delete(params.sessionId);
      return {};
    })
    .onRequest(methods.agent.session.setMode, async ({ params, client }) => {
      const known = modesOf((await remote.get()).card, options).modes?.availableModes ?? [];
      if (!known.some(({ id }) => id === params.modeId)) throw RequestError.invalidParams(undefined, `there is no mode ${params.modeId}`);
      sessionOf(params.sessionId).mode = params.modeId;
      const update = { sessionUpdate: 'current_mode_update', currentModeId: params.modeId } as const;
      await client.notify(methods.client.session.update, { sessionId: params.sessionId, update });
      return {};
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const session = sessionOf(params.sessionId);
      if (session.running !== undefined) throw RequestError.invalidRequest(undefined, 'a prompt of this session is still running');
      const agent = await remote.get();
      const said = await partsOfPrompt(params.prompt, fileReader(client, capabilities, session.id));
      const { onError } = options;
      const metadata = metadataFor(session.mode, agent.card);
      return await runPrompt({ agent, client, capabilities, session, metadata, ...(onError === undefined ? {} : { onError }) }, said);
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.running?.abort());
  return app.connect(stream);
}

/** Skills are modes: a prompt then names its skill. An agent with one skill and no modes has none. */
function modesOf({ skills }: AgentCard, { modes = [] }: AcpServerOptions): { readonly modes?: SessionModeState } {
  const named = modes.map((id) => ({ id, name: id }));
  const bySkill = skills.length < 2 ? [] : skills.map(({ id, name, description }) => ({ id: `${SKILL}${id}`, name, description }));
  if (named.length + bySkill.length === 0) return {};
  const first = { id: DEFAULT_MODE, name: 'Default', description: 'The agent decides' };
  return { modes: { currentModeId: DEFAULT_MODE, availableModes: [first, ...named, ...bySkill] } };
}

const SKILL = 'skill:';

function metadataFor(mode: string, { skills }: AgentCard): Metadata {
  if (mode === DEFAULT_MODE) return {};
  const skill = skills.find(({ id }) => mode === `${SKILL}${id}`);
  return skill === undefined ? { mode } : { skillId: skill.id };
}

/** Reads through the editor, which has the newest text of an unsaved file. */
function fileReader(client: AgentContext, { fs }: ClientCapabilities, sessionId: string): ReadEditorFile {
  if (fs?.readTextFile !== true) return undefined;
  return async (path) => (await client.request(methods.client.fs.readTextFile, { sessionId, path })).content;
}
