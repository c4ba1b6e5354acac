import { type Agent, defineAgent, fail } from 'parley-a2a/agents';

/** A node of SAM's workflow: gets its input as data, and answers with data. */
const validator: Agent = defineAgent({
  name: 'OrderValidator',
  description: 'Validates orders.',
  inputModes: ['*/*'],
  outputModes: ['*/*'],
  run: ({ parts }) => {
    const input = JSON.stringify(parts.find(({ data }) => data !== undefined)?.data ?? {});
    return input.includes('forbidden') ? fail('this order is forbidden') : [{ data: { answer: `valid: ${input}` } }];
  },
});

export default validator;
