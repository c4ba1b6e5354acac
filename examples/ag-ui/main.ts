/** An agent behind an AG-UI front end: text, a drawn surface, and a question that interrupts the run. `copilotkit.mjs` puts CopilotKit's runtime in between. */
import assert from 'node:assert/strict';
import { HttpAgent } from '@ag-ui/client';
import { serve } from 'parley-a2a/server/node';
import rooms from './agent.ts';

const node = await serve(rooms, { port: 0 });
const frontEnd = new HttpAgent({ url: `${node.url}/agents/rooms/ag-ui` });
const drawn: string[] = [];
const watch = { onActivitySnapshotEvent: ({ event }: { event: { activityType: string } }): void => void drawn.push(event.activityType) };

frontEnd.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'A room for today, please.' });
await frontEnd.runAgent({}, watch);
assert.ok(drawn.includes('a2ui-surface'));
const [interrupt] = frontEnd.pendingInterrupts;
assert.equal(interrupt?.message, 'Shall I book room B2?');

await frontEnd.runAgent({ resume: [{ interruptId: interrupt.id, status: 'resolved', payload: { optionId: 'yes' } }] }, watch);
assert.equal(frontEnd.messages.at(-1)?.content, 'Booked.');

await node.close();
console.log('ag-ui: drew a surface, and booked after a yes');
