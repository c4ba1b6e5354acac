import type { Mesh } from '#mesh';
import { directoryAgent, openGateway } from '#mesh';
import type { Log, Settings } from '#server';
import { logFor } from '../../server/adapters/node-settings.ts';
import { takeFlags } from '../bridges/own-flags.ts';
import { CliError } from '../command.ts';
import { mountMcp, settingsFor, startServing, untilSignal } from '../serve.ts';
import { parseServeFlags } from '../serve-flags.ts';
import { brokerOf, FLAGS } from './flags.ts';
import { rulesIn } from './list.ts';
import { artifactsIn, meshFor } from './serving.ts';

/** `parley mesh gateway`. */
export async function gateway(args: readonly string[]): Promise<number> {
  const flags = takeFlags(args, { ...FLAGS, id: 'one' });
  const parsed = parseServeFlags(flags.rest);
  const { mesh: _, ...settings } = await settingsFor(parsed);
  const id = flags.one('id') ?? `gateway_${crypto.randomUUID().slice(0, 8)}`;
  if (!/^[A-Za-z0-9_]{1,64}$/.test(id)) throw new CliError(`--id ${id}: letters, digits and _ only`, { exit: 2 });
  const log = logFor({ ...settings, mesh: undefined });
  const broker = brokerOf(flags, { ...settings, mesh: _ });
  const mesh = await meshFor(broker, { ...settings, mesh: undefined }, log);
  try {
    return await run({ mesh, id, settings: { ...settings, mesh: undefined }, log, rules: rulesIn(flags), json: parsed.json, broker });
  } finally {
    await mesh.close();
  }
}

interface Running {
  readonly mesh: Mesh;
  readonly id: string;
  readonly settings: Settings;
  readonly log: Log;
  readonly rules: ReturnType<typeof rulesIn>;
  readonly json: boolean;
  readonly broker: string;
}

async function run({ mesh, id, settings, log, rules, json, broker }: Running): Promise<number> {
  const registry = await mesh.discover(rules);
  const caller = await mesh.call({ kind: 'gateway', id });
  const broken = Promise.withResolvers<number>();
  const root = directoryAgent('gateway', registry);
  const served = await startServing([{ agent: root, source: `mesh-gateway-${id}` }], settings, {
    log,
    onBroken: () => broken.resolve(1),
    mcp: mountMcp,
  });
  const stopped = untilSignal();
  const say = (event: object, text: string): void => void process.stdout.write(json ? `${JSON.stringify(event)}\n` : `${text}\n`);
  say(
    { event: 'ready', url: served.url, agents: served.handler.agents.map(({ name }) => name), id },
    `Parley offers the agents of ${settings.namespace} at ${served.url}/agents/{name}/\n\nStop with Ctrl-C.\n`,
  );
  const close = openGateway({
    registry,
    caller,
    offering: served.handler,
    ...(settings.artifacts === undefined ? {} : { artifacts: artifactsIn(settings.artifacts) }),
    onChange: (kind, name) =>
      say({ event: kind, agent: name, url: `${served.url}/agents/${name}` }, `${kind}: ${served.url}/agents/${name}/`),
  });
  await mesh.announce({ kind: 'gateway', name: id, card: root.card });
  log.info('on the mesh', { broker: URL.parse(broker)?.host ?? broker, namespace: settings.namespace, id });
  const code = await Promise.race([stopped.then(() => 0), broken.promise]);
  if (json) process.stdout.write('{"event":"stopping"}\n');
  await close();
  await served.close();
  if (json) process.stdout.write('{"event":"stopped"}\n');
  return code;
}
