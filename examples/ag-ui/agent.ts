import { type Agent, defineAgent, surface } from 'parley-a2a/agents';

/** Books a room: shows a form to front ends that draw A2UI, and asks before it books. */
const agent: Agent = defineAgent({
  name: 'rooms',
  description: 'Books meeting rooms.',
  surfaces: true,
  async *run(turn) {
    yield surface({
      id: 'plan',
      components: {
        root: { component: 'Column', children: ['title', 'room'] },
        title: { component: 'Text', text: 'Your meeting', variant: 'h3' },
        room: { component: 'Text', text: { path: '/room' } },
      },
      data: { room: 'B2' },
    });
    const { option } = await turn.ask('Shall I book room B2?', { options: ['yes', 'no'] });
    yield option === 'yes' ? 'Booked.' : 'Then not.';
  },
});

export default agent;
