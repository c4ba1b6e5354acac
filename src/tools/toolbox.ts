import type { LlmTool, LlmToolbox } from '#agents';
import type { AgentTool } from './agent-tools.ts';
import type { AgentConnectOptions, AgentTarget } from './connect.ts';
import { toolsOf } from './connect.ts';
import { distinct } from './names.ts';
import { outcomeJson } from './outcome.ts';

/**
 * Other agents as tools of a language model: one tool for each skill. They are reached with the first
 * message.
 *
 * ```ts
 * const agent = llmAgent({ model, tools: agentToolbox([{ url: 'https://agent.example' }]) });
 * ```
 */
export function agentToolbox(targets: readonly AgentTarget[], options: AgentConnectOptions = {}): LlmToolbox {
  let known: Promise<readonly LlmTool[]> | undefined;
  return {
    tools: () => {
      known ??= toolsOf(targets, options).then((tools) => tools.map(llmTool));
      known.catch(() => {
        known = undefined;
      });
      return known;
    },
  };
}

/** An agent's tool in the form that `llmAgent` takes. */
function llmTool({ name, description, inputSchema, execute }: AgentTool): LlmTool {
  return {
    ...{ name, description, inputSchema },
    run: async (input, { signal }) => {
      const outcome = await execute(input, { signal });
      return { text: JSON.stringify(outcomeJson(outcome)), isError: !outcome.ok && !outcome.isWaiting };
    },
  };
}

/** Several toolboxes as one. A name that is used twice gets a number. */
export function joinToolboxes(boxes: readonly LlmToolbox[]): LlmToolbox {
  return {
    runsCommands: boxes.some(({ runsCommands }) => runsCommands === true),
    tools: async () => {
      const taken = new Set<string>();
      const all = (await Promise.all(boxes.map((box) => box.tools()))).flat();
      return all.map((tool): LlmTool => {
        const name = distinct(tool.name, taken);
        taken.add(name);
        return { ...tool, name, run: (input, call) => tool.run(input, call) };
      });
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(boxes.map((box) => box[Symbol.asyncDispose]?.()));
    },
  };
}
