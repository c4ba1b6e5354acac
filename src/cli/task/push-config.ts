import type { PushConfig, PushConfigId, TaskId } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import type { Command } from '../command.ts';
import { usage } from '../command.ts';
import { commandGroup } from '../command-group.ts';
import { printJson } from '../contract/results.ts';
import type { ContractSession } from '../contract/session.ts';
import { contractCommand } from '../contract/session.ts';
import { GLOBALS, PUSH_SECRETS } from '../flags/globals.ts';
import { textOf } from '../flags/parse.ts';
import type { Argument, Flag } from '../flags/spec.ts';
import { field, idsText } from '../output/labels.ts';
import { EXITS } from './exits.ts';
import { listenCommand } from './listen.ts';
import { pushConnection } from './push.ts';

const TASK: Argument = { name: 'TASK' };
const CONFIG: Argument = { name: 'CONFIG' };

interface About {
  readonly verb: string;
  readonly summary: string;
  readonly args: readonly Argument[];
  readonly flags?: readonly Flag[];
  readonly example: string;
  /** Throws for a wrong call, before anything is sent. */
  readonly check?: (session: ContractSession) => unknown;
}

function pushCommand(
  { verb, summary, args, flags = [], example, check }: About,
  body: (session: ContractSession, connection: AgentConnection) => Promise<void>,
): Command {
  const name = `task push-config ${verb}`;
  return contractCommand(
    { name, summary, args, flags, globals: GLOBALS, examples: [`parley ${name} -a agents.example.org ${example}`], exits: EXITS },
    async (session) => {
      check?.(session);
      const connection = await pushConnection(session);
      await connection.run(() => body(session, connection), { continued: true });
      return 0;
    },
  );
}

const create = pushCommand(
  {
    verb: 'create',
    summary: 'have an agent post the events of a task to an address.',
    args: [TASK],
    flags: [
      { name: 'url', kind: 'text', value: 'URL', doc: 'Where the events go. Required.' },
      { name: 'id', kind: 'text', value: 'ID', doc: 'The name of the configuration; the agent makes one up otherwise.' },
      { name: 'auth-scheme', kind: 'text', value: 'NAME', doc: 'How the agent shows who it is, as Bearer.' },
      ...PUSH_SECRETS,
    ],
    example: '5d1c0c9e --url https://hooks.example.org/a2a',
    check: configFrom,
  },
  async (session, connection) => {
    const config = configFrom(session);
    for (const secret of [config.authentication?.credentials, config.token]) session.secrets.add(secret);
    await print(session, connection, await connection.service.push.create(config, connection.ctx()));
  },
);

/** The push config from the flags. */
function configFrom({ parsed, words, settings }: ContractSession): PushConfig {
  const text = (name: string): string | undefined => textOf(parsed, name);
  const [url, id, scheme] = [text('url'), text('id'), text('auth-scheme')];
  const [token, credentials] = [settings.text('token'), settings.text('auth-credentials')];
  if (url === undefined || !URL.canParse(url))
    throw usage(url === undefined ? '--url is missing' : `--url: ${url} is no address`, 'example: --url https://hooks.example.org/a2a');
  if (scheme === undefined && settings.find('auth-credentials')?.source.kind === 'flag')
    throw usage('--auth-credentials needs --auth-scheme', 'example: --auth-scheme Bearer');
  return {
    taskId: (words[0] ?? '') as TaskId,
    url,
    ...(id === undefined ? {} : { id: id as PushConfigId }),
    ...(token === undefined ? {} : { token }),
    ...(scheme === undefined ? {} : { authentication: credentials === undefined ? { scheme } : { scheme, credentials } }),
  };
}

const get = pushCommand(
  { verb: 'get', summary: 'print one configuration.', args: [TASK, CONFIG], example: '5d1c0c9e hook-1' },
  async (session, connection) => {
    const [taskId, id] = session.words as readonly [TaskId, PushConfigId];
    await print(session, connection, await connection.service.push.get({ taskId, id }, connection.ctx()));
  },
);

const list = pushCommand(
  { verb: 'list', summary: 'list the configurations of a task.', args: [TASK], example: '5d1c0c9e' },
  async (session, connection) => {
    const taskId = (session.words[0] ?? '') as TaskId;
    const page = await connection.service.push.list({ taskId }, connection.ctx());
    if (session.json) printJson(session, connection.answers.json('push.list.result', page));
    else session.out((await idsOf(connection, taskId)) + page.configs.map((config) => `\n${configText(config)}`).join(''));
  },
);

const remove = pushCommand(
  { verb: 'delete', summary: 'delete a configuration.', args: [TASK, CONFIG], example: '5d1c0c9e hook-1' },
  async (session, connection) => {
    const [taskId, id] = session.words as readonly [TaskId, PushConfigId];
    await connection.service.push.delete({ taskId, id }, connection.ctx());
    if (session.json) printJson(session, {});
    else session.out((await idsOf(connection, taskId)) + field('Deleted', id));
  },
);

async function print(session: ContractSession, connection: AgentConnection, config: PushConfig): Promise<void> {
  if (session.json) printJson(session, connection.answers.json('push.get.result', config));
  else session.out((await idsOf(connection, (session.words[0] ?? '') as TaskId)) + configText(config));
}

/** Every output about a task names its context and state (A2ACLI_OUT_001). A configuration has neither, so the task is read. */
async function idsOf(connection: AgentConnection, id: TaskId): Promise<string> {
  try {
    return idsText(await connection.service.get({ id }, connection.ctx()));
  } catch {
    return field('Task', id) + field('Context', 'unknown') + field('State', 'UNSPECIFIED'); // the operation itself was carried out
  }
}

/** A push config without its secrets. */
function configText({ id, url, authentication }: PushConfig): string {
  return (
    field('Config', id ?? '') + field('URL', url) + (authentication === undefined ? '' : field('Authentication', authentication.scheme))
  );
}

export const pushConfigCommand: Command = commandGroup({
  name: 'task push-config',
  summary: 'have an agent call you when a task moves.',
  commands: [create, get, list, remove, listenCommand],
});
