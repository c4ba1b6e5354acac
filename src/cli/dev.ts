import { existsSync } from 'node:fs';
import type { CallRecord } from '#server';
import { CAN_RELOAD } from '../server/adapters/module-file.ts';
import type { Command } from './command.ts';
import { CliError } from './command.ts';
import type { KeyActions } from './dev/keys.ts';
import { keysText, openPage, readKeys } from './dev/keys.ts';
import { createReloader } from './dev/reload.ts';
import { helpFor } from './flags/help.ts';
import { parse, switchOf } from './flags/parse.ts';
import type { CommandSpec } from './flags/spec.ts';
import { CALL } from './output/readable-log.ts';
import { readServeFlags, serveFlags } from './serve/flags.ts';
import type { StartedNode } from './serve.ts';
import { serveAgents, settingsFor } from './serve.ts';

const SPEC: CommandSpec = {
  name: 'dev',
  summary: 'serve an agent while you write it.',
  args: [{ name: 'AGENT', optional: true, many: true }],
  details: `Serves as parley serve does, and loads an agent again as soon as one of its files changes. The node continues: tasks, open streams and
console pages stay, and running turns finish with the code that they began with. Every call is shown as one line: who, dialect, operation,
agent, state, time. An error is shown with the line of your file. A file that can't be loaded is reported, and the agent stays as it was.
AGENT is what parley serve takes. Default: agent.ts or agent.js in this folder.`,
  flags: [
    { name: 'open', kind: 'switch', group: 'Common options', doc: 'Open the console in a browser. While it runs: o and Enter.' },
    ...serveFlags(),
  ],
  examples: ['parley dev agent.ts', 'parley dev agent.ts --open'],
  exits: '0 stopped as asked; 1 could not start or continue; 2 wrong call.',
};

export const devCommand: Command = {
  name: 'dev',
  help: helpFor(SPEC),
  spec: SPEC,
  run: async (args) => {
    const parsed = parse(SPEC, args);
    const flags = readServeFlags(parsed);
    if (flags.stdio) throw new CliError('parley dev has no --stdio', { hint: 'use: parley serve --stdio', exit: 2 });
    if (!CAN_RELOAD)
      throw new CliError(`parley dev needs Node 22.15 or newer, and this is ${process.version}`, { hint: 'or use: parley serve' });
    const settings = new Map(flags.settings);
    if (!settings.has('agents')) {
      const file = ['agent.ts', 'agent.js', 'agent.mjs'].find((name) => existsSync(name));
      const configured = (await settingsFor(flags)).agents;
      if (file !== undefined) settings.set('agents', [file]);
      else if (configured[0] === 'demo')
        throw new CliError('there is no agent.ts in this folder', {
          hint: 'name a file: parley dev FILE; or make a project: parley init my-agent',
          exit: 2,
        });
    }
    const reloader = createReloader();
    const onServed = (serving: StartedNode): (() => void) => {
      reloader.begin({ handler: serving.served.handler, log: serving.log });
      const keys = keysOf(serving, reloader.reloadAll);
      if (process.stdin.isTTY === true && !flags.json) process.stdout.write(`${keysText(keys)}.\n\n`);
      if (switchOf(parsed, 'open')) keys['o']?.act();
      return readKeys(keys, (line) => process.stdout.write(`${line}\n`));
    };
    try {
      return await serveAgents({ ...flags, settings }, { find: reloader.find, onCall: callLine, onServed, alone: 'parley dev' });
    } finally {
      reloader.close();
    }
  },
};

function callLine({ state, ms, task, ...call }: CallRecord, { log }: Pick<StartedNode, 'log'>): void {
  log.info(CALL, {
    ...call,
    state: state?.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-'),
    task,
    ms: Math.round(ms),
  });
}

function keysOf({ served, settings }: StartedNode, reload: () => void): KeyActions {
  const page = `${settings.url ?? served.url}/console/`;
  return {
    o: { doc: 'opens the console', act: () => openPage(page) },
    r: { doc: 'loads the agents again', act: reload },
    q: { doc: 'stops', act: () => void process.kill(process.pid, 'SIGINT') },
  };
}
