import { appendParts, isPlainText } from '../../chunks.ts';
import type { Artifact } from '../../task.ts';

/** The name of each chunk of coding-agent-a2a's answers. Its ids are random; Parley's own coding agents use this name as the id. */
const CHUNK = 'assistant-response';

/**
 * coding-agent-a2a gives every chunk of its answer an artifact id of its own, and its SDK keeps each as
 * an artifact. Joins those that follow each other, under the id of the first, as they are joined in a
 * stream.
 */
export function joinChunkArtifacts(artifacts: readonly Artifact[]): readonly Artifact[] {
  if (!artifacts.some((artifact, at) => at > 0 && isChunk(artifact))) return artifacts;
  const joined: Artifact[] = [];
  for (const artifact of artifacts) {
    const before = joined.at(-1);
    if (before === undefined || !isChunk(before) || !isChunk(artifact)) joined.push(artifact);
    else joined[joined.length - 1] = { ...before, parts: appendParts([...before.parts], artifact.parts) };
  }
  return joined;
}

function isChunk({ artifactId, name, description, metadata, extensions, parts }: Artifact): boolean {
  if (name !== CHUNK || artifactId.startsWith(CHUNK)) return false;
  return description === undefined && metadata === undefined && extensions === undefined && parts.every(isPlainText);
}
