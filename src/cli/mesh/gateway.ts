import type { Caller } from '#mesh';
import { directoryAgent, meshAgent, meshView, openGateway } from '#mesh';
import type { Log, Settings } from '#server';
import { createConsole } from '../../server/adapters/console.ts';
import { dataFolder, logFor } from '../../server/adapters/node-settings.ts';
import { takeFlags } from '../bridges/own-flags.ts';
import { CliError } from '../command.ts';
import { mountMcp, settingsFor, startServing, untilSignal } from '../serve.ts';
import { parseServeFlags } from '../serve-flags.ts';
import { brokerOf, FLAGS } from './flags.ts';
import type { Kept } from './kept.ts';
import { keptIn } from './kept.ts';
import { rulesIn } from './list.ts';
import type { Joined } from './serving.ts';
import { artifactsIn, joined } from './serving.ts';

/** The root agent, and so a name that nobody on the mesh is offered under. */
const ROOT = 'gateway';

/** `parley mesh gateway`. */
export async function gateway(args: readonly string[]): Promise<number> {
  const flags = takeFlags(args, { ...FLAGS, id: 'one' });
  const parsed = parseServeFlags(flags.rest);
  const { mesh: configured, ...rest } = await settingsFor(parsed);
  const settings: Settings = { ...rest, mesh: undefined };
  const log = logFor(settings);
  const broker = brokerOf(flags, { ...settings, mesh: configured });
  const named = flags.one('id');
  if (named !== undefined && !/^[A-Za-z0-9_]{1,64}$/.test(named))
    throw new CliError(`--id ${named}: letters, digits and _ only`, { exit: 2 });
  const host = URL.parse(broker)?.host ?? broker;
  const source = `${settings.namespace}/mesh-gateway-${named ?? host}`;
  const kept = keptIn(settings.memory ? undefined : dataFolder([source], settings.data));
  const id = named ?? kept.id ?? `gateway_${crypto.randomUUID().slice(0, 8)}`;
  if (kept.id !== undefined && kept.id !== id) log.warn(`answers to ${kept.id}, as this gateway was called before, are not heard`);
  const member = await joined(broker, settings, log);
  try {
    return await run({ ...member, id, source, kept, settings, log, rules: rulesIn(flags), json: parsed.json, host });
  } finally {
    await member.mesh.close();
  }
}

interface Running extends Joined {
  readonly id: string;
  readonly source: string;
  readonly kept: Kept;
  readonly settings: Settings;
  readonly log: Log;
  readonly rules: ReturnType<typeof rulesIn>;
  readonly json: boolean;
  readonly host: string;
}

async function run(running: Running): Promise<number> {
  const { mesh, broker, sight, id, source, kept, settings, log, rules, json } = running;
  const known = kept.peers.filter(({ isHere }) => isHere);
  const registry = await mesh.discover({ ...rules, deny: [...(rules.deny ?? []), ROOT], known });
  registry.onChange(kept.note);
  const caller = await mesh.call({ kind: 'gateway', id });
  const broken = Promise.withResolvers<number>();
  const root = directoryAgent(ROOT, registry);
  const served = await startServing([{ agent: root, source }], settings, {
    log,
    onBroken: () => broken.resolve(1),
    mcp: mountMcp,
    console: createConsole({ say: (line) => log.info(line) }),
    mesh: meshView({
      ...sight,
      registry,
      broker,
      namespace: settings.namespace,
      counts: mesh.counts,
      gateway: id,
      ...wayTo(caller, settings),
    }),
    // Before the tasks are taken up: a task whose agent nobody knows would be given up.
    known: new Map(kept.peers.map(({ name, card }) => [name, meshAgent(name, card, wayTo(caller, settings))])),
  });
  kept.begin(id);
  for (const { name } of kept.peers) if (registry.agent(name) === undefined) served.handler.remove(name);
  const stopped = untilSignal();
  const say = (event: object, text: string): void => void process.stdout.write(json ? `${JSON.stringify(event)}\n` : `${text}\n`);
  say(
    { event: 'ready', url: served.url, agents: served.handler.agents.map(({ name }) => name), id },
    `Parley offers the agents of ${settings.namespace} at ${served.url}/agents/{name}/\n\nStop with Ctrl-C.\n`,
  );
  const close = openGateway({
    registry,
    ...wayTo(caller, settings),
    offering: served.handler,
    onChange: (kind, name) =>
      say({ event: kind, agent: name, url: `${served.url}/agents/${name}` }, `${kind}: ${served.url}/agents/${name}/`),
  });
  await mesh.announce({ kind: 'gateway', name: id, card: root.card });
  log.info('on the mesh', { broker: running.host, namespace: settings.namespace, id });
  const code = await Promise.race([stopped.then(() => 0), broken.promise]);
  if (json) process.stdout.write('{"event":"stopping"}\n');
  await close();
  await served.close();
  if (json) process.stdout.write('{"event":"stopped"}\n');
  return code;
}

/** How the agents of the mesh are reached, by those who were there before as by those who come. */
function wayTo(caller: Caller, { artifacts }: Settings): Pick<Parameters<typeof openGateway>[0], 'caller' | 'artifacts'> {
  return { caller, ...(artifacts === undefined ? {} : { artifacts: artifactsIn(artifacts) }) };
}
