import type { TaskId } from '#protocol';
import { fetchFor } from '../agent/client-options.ts';
import { connect } from '../agent/connect.ts';
import type { Command } from '../command.ts';
import { printJson } from '../contract/results.ts';
import { contractCommand } from '../contract/session.ts';
import { GLOBALS } from '../flags/globals.ts';
import { listOf, switchOf, textOf } from '../flags/parse.ts';
import { field, idsText } from '../output/labels.ts';
import { saveArtifacts } from '../parts/save-artifacts.ts';
import { EXITS } from './exits.ts';

export const downloadCommand: Command = contractCommand(
  {
    name: 'task download',
    summary: 'write what a task made to files.',
    args: [{ name: 'TASK' }],
    flags: [
      { name: 'dir', short: 'd', aliases: ['save-fileparts'], kind: 'text', value: 'DIR', default: '.', doc: 'Where to.' },
      { name: 'artifact', kind: 'list', value: 'NAME', doc: 'Only these, by name or id.' },
      { name: 'fetch', kind: 'switch', doc: 'Fetch files that are given as a URL too. Nothing of yours is sent there.' },
      { name: 'force', kind: 'switch', doc: 'Overwrite files that are there.' },
    ],
    globals: GLOBALS,
    details:
      'Every part becomes a file: text .txt or .md, data .json, files under their own names. With -o json it prints the list of what was written.',
    examples: ['parley task download -a agents.example.org 5d1c0c9e --dir out'],
    exits: EXITS,
  },
  async (session) => {
    const { parsed, signal } = session;
    const connection = await connect(session);
    const id = (session.words[0] ?? '') as TaskId;
    const task = await connection.run(() => connection.service.get({ id }, connection.ctx()), { continued: true });
    const wanted = listOf(parsed, 'artifact');
    const artifacts = (task.artifacts ?? []).filter(
      ({ name = '', artifactId }) => wanted.length === 0 || wanted.includes(artifactId) || wanted.includes(name),
    );
    const files = await saveArtifacts(artifacts, {
      folder: textOf(parsed, 'dir') ?? '.',
      overwrite: switchOf(parsed, 'force'),
      fetch: switchOf(parsed, 'fetch') ? await fetchFor(session) : undefined,
      signal,
      warn: (text) => session.note(`warning: ${text}\n`),
    });
    if (session.json)
      printJson(session, {
        taskId: task.id,
        contextId: task.contextId ?? '',
        state: task.status.state,
        files: files.map((file) => ({ ...file })),
      });
    else
      session.out(
        idsText(task) + files.map(({ path, mediaType, bytes }) => field('File', `${path} (${mediaType}, ${bytes} bytes)`)).join(''),
      );
    if (files.length === 0) session.note('warning: nothing was written\n');
    return 0;
  },
);
