import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseLaunch, createCodingAgent } from '#agents';
import type { Json, JsonObject, Task } from '#protocol';
import { isDataPart } from '#protocol';
import type { RunOptions } from '../../src/agents/run/agent.ts';
import { scratchFolder } from './scratch.ts';
import type { Talk } from './talk.ts';
import { talkTo } from './talk.ts';

const folder = realpathSync(scratchFolder());
const bin = join(folder, 'bin');
mkdirSync(bin);
const REPLAY = fileURLToPath(new URL('../agents/children/replay.ts', import.meta.url));
for (const program of ['claude', 'codex', 'gemini', 'opencode', 'copilot', 'cursor-agent', 'vibe']) {
  const path = join(bin, program);
  writeFileSync(path, `#!/bin/sh\nexec ${process.execPath} --disable-warning=ExperimentalWarning ${REPLAY} ${program} "$@"\n`);
  chmodSync(path, 0o755);
}

/** A CLI whose part a recording plays. */
export interface Played {
  readonly talk: Talk;
  readonly cwd: string;
  /** How the CLI was called, and its input at the end. */
  record(): readonly JsonObject[];
}

let count = 0;

export async function play(name: string, stream: string, options: RunOptions = {}): Promise<Played> {
  count += 1;
  const cwd = join(folder, `w${count}`);
  const record = join(folder, `r${count}`);
  mkdirSync(cwd);
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env['PATH']}`,
    REPLAY_RECORD: record,
    REPLAY_STREAM: fileURLToPath(new URL(`../agents/streams/${stream}.jsonl`, import.meta.url)),
  };
  const chosen = chooseLaunch(name, { env });
  if (chosen?.program === undefined) throw new Error(`no ${name}`);
  const agent = createCodingAgent(chosen, {
    cwd,
    state: join(folder, `s${count}`),
    sandbox: 'plain',
    env,
    environment: ['REPLAY_*'],
    ...options,
  });
  return {
    talk: await talkTo(agent),
    cwd,
    record: () =>
      readFileSync(record, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JsonObject),
  };
}

export const answer = (task: Task): string =>
  (task.artifacts ?? [])
    .filter(({ name }) => name === 'assistant-response')
    .flatMap(({ parts }) => parts)
    .map(({ text }) => text ?? '')
    .join('');
export const result = (task: Task): Json | undefined => task.artifacts?.find(({ name }) => name === 'result')?.parts.find(isDataPart)?.data;
/** The kinds of the events, with the tool's name. */
export const told = (task: Task): readonly string[] =>
  (task.history ?? [])
    .flatMap((message) => message.parts.filter(isDataPart))
    .map(({ data }) => {
      const { type, tool, isError } = data as JsonObject;
      return [type, tool, isError === true ? 'error' : undefined].filter((word) => word !== undefined).join(' ');
    });
