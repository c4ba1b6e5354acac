import type {
  ClientContext,
  InitializeResponse,
  LoadSessionRequest,
  NewSessionRequest,
  SessionConfigOption,
  SessionMode,
  SessionModeState,
} from '@agentclientprotocol/sdk';
import { methods, RequestError } from '@agentclientprotocol/sdk';
import { oneLine } from '../run/clip.ts';
import type { Job } from '../run/driver.ts';
import { asksNobody } from '../run/modes.ts';

/** Maximum length of the agent's error text within our notice. */
const REASON_CHARACTERS = 200;

/** An open session of an ACP agent. */
export interface OpenSession {
  readonly sessionId: string;
  /** Whether another process can resume it. */
  readonly isResumable: boolean;
  /** The agent replays the session from its beginning. */
  readonly isLoaded: boolean;
  /** Modes that the agent offers, and the current one. */
  readonly modes: SessionModeState | undefined;
  readonly options: readonly SessionConfigOption[];
  readonly model: string | undefined;
  /** A notice for the caller: an earlier session is lost. */
  readonly note: string | undefined;
}

/** Continues the earlier session, or starts one. A lost session does not stop the work. */
export async function openSession(agent: ClientContext, { agentCapabilities }: InitializeResponse, job: Job): Promise<OpenSession> {
  const canResume = agentCapabilities?.sessionCapabilities?.resume !== undefined && agentCapabilities.sessionCapabilities.resume !== null;
  const canLoad = agentCapabilities?.loadSession === true;
  const isResumable = canResume || canLoad;
  const where: NewSessionRequest = { cwd: job.folder, mcpServers: [] };
  let note: string | undefined;
  if (job.session !== undefined && isResumable) {
    const given: LoadSessionRequest = { sessionId: job.session, ...where };
    try {
      const answer = canResume
        ? await agent.request(methods.agent.session.resume, given)
        : await agent.request(methods.agent.session.load, given);
      return opened(answer ?? {}, { sessionId: job.session, isResumable, isLoaded: !canResume, note });
    } catch (thrown) {
      if (!(thrown instanceof RequestError)) throw thrown;
      const why = oneLine(`${thrown.message}${detailIn(thrown.data)}`, REASON_CHARACTERS);
      note = `The earlier session is lost (${why}): this is a new one, which does not know the earlier messages.`;
    }
  }
  const answer = await agent.request(methods.agent.session.new, where);
  return opened(answer, { sessionId: answer.sessionId, isResumable, isLoaded: false, note });
}

interface Answer {
  readonly modes?: SessionModeState | null;
  readonly configOptions?: readonly SessionConfigOption[] | null;
}

function opened({ modes, configOptions }: Answer, rest: Pick<OpenSession, 'sessionId' | 'isResumable' | 'isLoaded' | 'note'>): OpenSession {
  const options = configOptions ?? [];
  const model = options.find(({ category }) => category === 'model');
  return { ...rest, modes: modes ?? undefined, options, model: typeof model?.currentValue === 'string' ? model.currentValue : undefined };
}

/**
 * Sets the mode and the model that the request asks for. A value that the agent lacks is an error. If
 * the agent would start in a mode in which it asks for no approval, it is put into one in which it
 * does: only the operator may waive approvals, not a setting.
 */
export async function choose(agent: ClientContext, session: OpenSession, { settings, isPermissive }: Job): Promise<void> {
  const { sessionId, modes } = session;
  const wanted = settings.mode;
  const known = modes?.availableModes.find(({ id }) => wanted !== undefined && isCalled(id, wanted));
  if (!isPermissive && wanted !== undefined && asksNobody(known ?? { id: wanted }))
    throw refusal('mode', `mode ${wanted} asks for no approvals; only the operator may choose such a mode`);
  const mode = known ?? (isPermissive || wanted !== undefined ? undefined : askingMode(modes));
  if (mode !== undefined) await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode.id });
  else if (wanted !== undefined) await chooseOption(agent, session, { category: 'mode', value: wanted });
  if (settings.model !== undefined) await chooseOption(agent, session, { category: 'model', value: settings.model });
}

/** Some agents have URLs as ids, which end in the name: `https://…/session-modes#plan`. */
function isCalled(id: string, name: string): boolean {
  return id === name || id.endsWith(`#${name}`);
}

/** Undefined: the agent asks already, or has no such mode. */
function askingMode(modes: SessionModeState | undefined): SessionMode | undefined {
  const current = modes?.availableModes.find(({ id }) => id === modes.currentModeId);
  if (modes === undefined || !asksNobody(current ?? { id: modes.currentModeId })) return undefined;
  const asking = modes.availableModes.filter((mode) => !asksNobody(mode));
  return asking.find(({ id }) => isCalled(id, 'default')) ?? asking[0];
}

interface Wanted {
  readonly category: 'mode' | 'model';
  readonly value: string;
}

/** Sets a configuration option of the session. Throws with the known values if the value does not exist. */
async function chooseOption(agent: ClientContext, { sessionId, options, modes }: OpenSession, { category, value }: Wanted): Promise<void> {
  const option = options.find((each) => each.category === category && each.type === 'select');
  const values =
    option?.type === 'select'
      ? option.options.flatMap((each) => ('options' in each ? each.options : [each])).map((each) => each.value)
      : [];
  if (option !== undefined && values.includes(value)) {
    await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: option.id, value });
    return;
  }
  const asking = modes?.availableModes.filter((mode) => !asksNobody(mode)).map(({ id }) => id.replace(/^.*#/, ''));
  const known = category === 'mode' ? (asking ?? values) : values;
  const words = known.length === 0 ? `this agent lets nobody choose its ${category}` : `there are ${known.join(', ')}`;
  throw refusal(category, `there is no ${category} ${value}; ${words}`);
}

function refusal(category: Wanted['category'], why: string): RequestError {
  return RequestError.invalidParams(undefined, `metadata.${category}: ${why}`);
}

/** Details that agents add to the message of an error. */
export function detailIn(data: unknown): string {
  if (typeof data === 'string') return `: ${data}`;
  const details = typeof data === 'object' && data !== null && 'details' in data ? data.details : undefined;
  return typeof details === 'string' ? `: ${details}` : '';
}
