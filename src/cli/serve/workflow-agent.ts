import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { A2AService, Json } from '#protocol';
import type { Settings } from '#server';
import { readWorkflow, WorkflowError, workflowAgent } from '#workflows';
import type { ConfiguredServer, FoundAgent } from '../../server/adapters/serve-configured.ts';
import { isAddress } from '../agent/address.ts';
import { CliError } from '../command.ts';
import { missingPackage } from '../output/missing-package.ts';
import { reach } from '../remote/connect.ts';

/** `flow.yaml`: a workflow. Its steps name agents of this node, agents of `a2a.remoteAgents`, or addresses. */
export async function workflowServed(given: string, settings: Settings): Promise<FoundAgent> {
  const path = resolve(given);
  if (!existsSync(path)) throw new CliError(`there is no file ${path}`, { hint: 'docs/workflows.md shows a workflow', exit: 2 });
  try {
    const workflow = readWorkflow(await parsed(path));
    let served: ConfiguredServer | undefined;
    const remotes = new Map<string, Promise<A2AService>>();
    const findAgent = (name: string): A2AService | undefined | Promise<A2AService> => {
      const own = served?.handler.agents.find((agent) => agent.name === name)?.service;
      if (own !== undefined) return own;
      if (settings.a2a.remoteAgents[name] === undefined && !isAddress(name)) return undefined;
      return remotes.get(name) ?? connected(name, settings, remotes);
    };
    const { ajvValidate } = await import('../../workflows/adapters/ajv.ts');
    return {
      agent: workflowAgent(workflow, { findAgent, validate: ajvValidate() }),
      source: path,
      onServed: (node) => {
        served = node;
      },
    };
  } catch (thrown) {
    const missing = missingPackage(thrown);
    if (missing !== undefined) throw missing;
    if (!(thrown instanceof WorkflowError)) throw thrown;
    throw new CliError(`${path}: ${thrown.message}`, { hint: 'docs/workflows.md describes the format', exit: 2 });
  }
}

async function parsed(path: string): Promise<Json> {
  const text = await readFile(path, 'utf8');
  const { parse } = await import('yaml');
  try {
    return parse(text) as Json;
  } catch (thrown) {
    throw new CliError(`${path} is not valid YAML: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { exit: 2 });
  }
}

/** Connects once. A connection that fails is tried again at its next use. */
function connected(name: string, settings: Settings, known: Map<string, Promise<A2AService>>): Promise<A2AService> {
  const connecting = reach(name, settings).then(({ service }) => service);
  known.set(name, connecting);
  connecting.catch(() => known.delete(name));
  return connecting;
}
