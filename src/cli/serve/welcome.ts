import { accessSync, constants } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseLaunch, knownAgents } from '#agents';
import type { NodeActivity, Settings } from '#server';
import { DEFAULT_SERVER_LIMITS } from '#server';
import type { NodeToken } from '../../server/adapters/secret-files.ts';
import type { ConfiguredServer } from '../../server/adapters/serve-configured.ts';

/** The first line of `--json`, for programs: where the node listens, and where its token is. */
export function readyLine({ url, handler, token, isOpen }: ConfiguredServer): string {
  const agents = handler.agents.map(({ name }) => name);
  const auth = isOpen ? {} : { auth: true, ...(token === undefined ? {} : { tokenFile: token.path }) };
  return `${JSON.stringify({ event: 'ready', url, agents, ...auth })}\n`;
}

/**
 * The text for people: where the node listens, who may call, which coding agents are installed (on the
 * first start without arguments), and what to type next.
 */
export function welcome(served: ConfiguredServer, settings: Settings, isFirst: boolean): string {
  const names = served.handler.agents.map(({ name }) => name).join(', ');
  const blocks = [
    `Parley serves ${names} at ${settings.url ?? served.url}\n${consoleWords(served, settings, isFirst)}${storedWords(served)}`,
    tokenWords(served.token),
    isFirst ? machineWords(settings) : '',
    tryWords(served, settings, isFirst),
    'Stop with Ctrl-C.\n',
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

/** Where tasks are, how many, and how large. */
function storedWords({ stored }: Pick<ConfiguredServer, 'stored'>): string {
  if (stored === undefined) return 'Tasks are in memory only, and are lost when the node stops.\n';
  const { folder, tasks, bytes } = stored;
  return `Tasks are in ${folder} (${tasks} ${tasks === 1 ? 'task' : 'tasks'}${bytes === undefined ? '' : `, ${sizeWords(bytes)}`})\n`;
}

function sizeWords(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** What the node waits for when it was asked to stop. */
export function stoppingText(
  { running, queued, asking, streams }: NodeActivity,
  { limits, memory }: Pick<Settings, 'memory'> & { readonly limits: Partial<Settings['limits']> },
): string {
  const work = [
    counted(running, 'running task', 'running tasks'),
    counted(queued, 'queued task', 'queued tasks'),
    counted(streams, 'open stream', 'open streams'),
  ].filter((words) => words !== '');
  const seconds = Math.round((limits.drainMsMax ?? DEFAULT_SERVER_LIMITS.drainMsMax) / 1000);
  if (running + queued + asking === 0) return '\nStopping …\n';
  const later = memory ? '' : asking > 0 || running > 0 ? ' What is not done continues with the next start.' : '';
  const waits = work.length === 0 ? '' : ` It waits for ${work.join(', ')}, at most ${seconds} s; Ctrl-C again stops at once.`;
  return `\nStopping.${waits}${later}\n`;
}

function counted(count: number, one: string, many: string): string {
  return count <= 0 ? '' : `${count} ${count === 1 ? one : many}`;
}

/** Where the console is. Browsers can't open a socket. */
function consoleWords({ url }: ConfiguredServer, settings: Settings, isFirst: boolean): string {
  if (!settings.console) return '';
  if (settings.socket !== undefined) return '';
  return `Open ${settings.url ?? url}/console/ in a browser${isFirst ? ', which begins with a tour' : ''}\n`;
}

/** A new token is shown once. Later it is only in its file. */
function tokenWords(token: NodeToken | undefined): string {
  if (token === undefined) return '';
  const made = token.isNew ? `A token was created for this machine. It is shown only now:\n  ${token.token}\n` : '';
  return `${made}Callers need the token in ${token.path}, which parley’s own commands read automatically.\n`;
}

/** The coding agents that are installed, by name. */
function machineWords({ run }: Settings): string {
  const here = knownAgents(run.agents).flatMap(({ name, title }) => {
    const program = chooseLaunch(name, run.agents === undefined ? {} : { configured: run.agents })?.program;
    return program === undefined ? [] : [{ name, title }];
  });
  const [first] = here;
  if (first === undefined) return `No coding agent was found on this machine; ${parleyWord()} agents --all lists those it knows.\n`;
  const width = Math.max(...here.map(({ name }) => name.length));
  const rows = here.map(({ name, title }) => `  ${name.padEnd(width)}  ${title}`);
  return `Coding agents on this machine, to be served by name (${parleyWord()} serve ${first.name}):\n${rows.join('\n')}\n`;
}

function tryWords(served: ConfiguredServer, settings: Settings, isFirst: boolean): string {
  const rows = settings.socket === undefined ? askRows(served, settings, isFirst) : socketRows(settings.socket);
  return `Try, in another terminal:\n${rows.map((row) => `  ${row}\n`).join('')}`;
}

/** Commands to try, with the flags that this node's TLS and authentication need. */
function askRows({ url, token, isOpen }: ConfiguredServer, { tls }: Settings, isFirst: boolean): readonly string[] {
  const at = url.startsWith('https:') ? url : url.replace('http://', '').replace('127.0.0.1', 'localhost');
  const key = isOpen || token !== undefined ? '' : 'A2ACLI_BEARER=KEY ';
  const trusted = tls.cert === undefined ? '' : ` --ca ${tls.cert}`;
  const parley = `${key}${parleyWord()}`;
  const card = `curl${tls.cert === undefined ? '' : ` --cacert ${tls.cert}`} ${url}/.well-known/agent-card.json`;
  if (isFirst) return [`${parley} ask ${at} stream${trusted}`, `${parley} ask ${at} approve${trusted}`, card];
  return [`${parley} ask ${at} "hello"${trusted}`, `${parley} chat ${at}${trusted}`, card];
}

/** `curl` commands: the other commands of parley can't use a socket. */
function socketRows(socket: string): readonly string[] {
  const curl = `curl --unix-socket ${socket}`;
  const hello = '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"hello"}]}}';
  return [
    `${curl} http://localhost/.well-known/agent-card.json`,
    `${curl} http://localhost/message:send -H 'Content-Type: application/json' -d '${hello}'`,
    `${curl} -N http://localhost/message:stream -H 'Content-Type: application/json' -d '${hello}'`,
  ];
}

/**
 * How to type the name of this program in this folder: `parley`, `npx parley-a2a`, or the path of
 * `bin/parley`.
 */
export function parleyWord(): string {
  const bin = fileURLToPath(new URL('../../../bin/parley', import.meta.url));
  if (bin.includes('_npx')) return 'npx parley-a2a';
  const found = (process.env['PATH'] ?? '').split(delimiter).find((folder) => isExecutable(join(folder, 'parley')));
  // npm adds node_modules/.bin to the search path of its scripts only; another terminal does not have it.
  if (found !== undefined) return /node_modules[\\/]\.bin[\\/]?$/.test(found) ? 'npx parley' : 'parley';
  const near = relative(process.cwd(), bin);
  return near.startsWith('..') ? bin : near;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
