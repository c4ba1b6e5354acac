import type { A2AService, Artifact, CallContext, Part, Task } from '#protocol';
import type { ReadQuotes } from '../grammars/grammar.ts';
import type { ArtifactService } from './service.ts';
import { withAnswers } from './with-answers.ts';

/** What reading the quotes of an agent's texts needs. */
export interface QuotedFiles {
  readonly read: ReadQuotes;
  readonly artifacts: ArtifactService | undefined;
  userOf(ctx: CallContext): string;
}

/** Wraps a link: what the texts of its artifacts quote from files is replaced, as a gateway does. */
export function withQuotedFiles(link: A2AService, { read, artifacts, userOf }: QuotedFiles): A2AService {
  const readParts = async (parts: readonly Part[], session: string, ctx: CallContext): Promise<readonly Part[]> => {
    const owner = { app: 'gateway', user: userOf(ctx), session };
    const load = artifacts === undefined ? undefined : (name: string, version?: number) => artifacts.load(owner, name, version);
    return (await Promise.all(parts.map((part) => (part.text === undefined ? [part] : read(part.text, load))))).flat();
  };
  const readArtifact = async (artifact: Artifact, session: string, ctx: CallContext): Promise<Artifact> => ({
    ...artifact,
    parts: await readParts(artifact.parts, session, ctx),
  });
  const task = async (given: Task, ctx: CallContext): Promise<Task> => {
    const { artifacts: all, contextId = '' } = given;
    return all === undefined ? given : { ...given, artifacts: await Promise.all(all.map((each) => readArtifact(each, contextId, ctx))) };
  };
  return withAnswers(link, {
    task,
    event: async (event, ctx) => {
      if (event.task !== undefined) return { task: await task(event.task, ctx) };
      const { artifactUpdate } = event;
      if (artifactUpdate === undefined) return event;
      return {
        artifactUpdate: { ...artifactUpdate, artifact: await readArtifact(artifactUpdate.artifact, artifactUpdate.contextId, ctx) },
      };
    },
  });
}
