/** An agent in an editor: this program plays the editor, which starts `parley acp` as its agent. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { serve } from 'parley-a2a/server/node';
import reviewer from './agent.ts';

const node = await serve(reviewer, { port: 0 });
const parley = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const child = spawn(process.execPath, ['--conditions=our-src', '--disable-warning=ExperimentalWarning', parley, 'acp', node.url], {
  stdio: ['pipe', 'pipe', 'inherit'],
});

let shown = '';
const editor = client({ name: 'editor' })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') shown += update.content.text;
  })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    assert.equal(params.toolCall.title, 'Write the report?');
    return { outcome: { outcome: 'selected', optionId: 'write' } };
  });

const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>);
await editor.connectWith(stream, async (agent) => {
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
  const prompt: ContentBlock[] = [
    { type: 'text', text: 'Review this.' },
    { type: 'resource', resource: { uri: 'file:///project/a.ts', text: 'let a = 1;\nlet b = 2;' } },
  ];
  const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
  assert.equal(stopReason, 'end_turn');
});
assert.equal(shown, '2 lines, no findings.');

child.kill();
await node.close();
console.log('editor: reviewed a file, after permission');
