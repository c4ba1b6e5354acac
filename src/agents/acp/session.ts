import type {
  ClientContext,
  InitializeResponse,
  LoadSessionRequest,
  NewSessionRequest,
  SessionConfigOption,
  SessionModeState,
} from '@agentclientprotocol/sdk';
import { methods, RequestError } from '@agentclientprotocol/sdk';
import type { Job } from '../run/driver.ts';
import type { RequestSettings } from '../run/request.ts';

export interface OpenSession {
  readonly sessionId: string;
  readonly isResumable: boolean;
  readonly modes: SessionModeState | undefined;
  readonly options: readonly SessionConfigOption[];
  readonly model: string | undefined;
  /** What the caller has to know: that an earlier session is lost. */
  readonly note: string | undefined;
}

/** Goes on with the session that there was, or begins one. A session that is lost does not stop the work. */
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
      return opened(answer ?? {}, { sessionId: job.session, isResumable, note });
    } catch (thrown) {
      if (!(thrown instanceof RequestError)) throw thrown;
      note = 'The earlier session is lost: this is a new one, which does not know what was said before.';
    }
  }
  const answer = await agent.request(methods.agent.session.new, where);
  return opened(answer, { sessionId: answer.sessionId, isResumable, note });
}

interface Answer {
  readonly modes?: SessionModeState | null;
  readonly configOptions?: readonly SessionConfigOption[] | null;
}

function opened({ modes, configOptions }: Answer, rest: Pick<OpenSession, 'sessionId' | 'isResumable' | 'note'>): OpenSession {
  const options = configOptions ?? [];
  const model = options.find(({ category }) => category === 'model');
  return { ...rest, modes: modes ?? undefined, options, model: typeof model?.currentValue === 'string' ? model.currentValue : undefined };
}

/** The mode and the model that the request wants. What the agent does not have is an error, not a guess. */
export async function choose(agent: ClientContext, session: OpenSession, { mode, model }: RequestSettings): Promise<void> {
  const { sessionId, modes } = session;
  if (mode !== undefined) {
    const known = modes?.availableModes.map(({ id }) => id) ?? [];
    if (known.includes(mode)) await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode });
    else await chooseOption(agent, session, { category: 'mode', value: mode });
  }
  if (model !== undefined) await chooseOption(agent, session, { category: 'model', value: model });
}

interface Wanted {
  readonly category: 'mode' | 'model';
  readonly value: string;
}

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
  const known = category === 'mode' ? [...(modes?.availableModes.map(({ id }) => id) ?? []), ...values] : values;
  const words = known.length === 0 ? `this agent lets nobody choose its ${category}` : `there are ${known.join(', ')}`;
  throw RequestError.invalidParams(undefined, `metadata.${category}: there is no ${category} ${value}; ${words}`);
}
