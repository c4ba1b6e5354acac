import { ACP_AGENTS } from './acp-agents.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { CODEX, codexExec } from './codex-exec.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { keepGeminiSession } from './gemini-sessions.ts';
import type { CodingAgent } from './launch.ts';
import { acp, acpAgent, native } from './launch.ts';
import { nativeDriver } from './native.ts';
import { OPENCODE_ASKS, opencode } from './opencode.ts';
import { vibe } from './vibe.ts';

/** Every coding agent that Parley knows, with its ways to start. */
export const CODING_AGENTS: readonly CodingAgent[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    aliases: ['claude-code'],
    launches: [
      acp('claude', ['claude-agent-acp'], claude),
      acp('claude', ['claude-code-acp'], claude),
      native(['claude', '-p', '--output-format', 'stream-json', '--verbose'], nativeDriver(claude), true),
    ],
  },
  {
    name: 'codex',
    title: 'OpenAI Codex',
    aliases: [],
    launches: [acp('codex', ['codex-acp'], CODEX), native(['codex', 'app-server'], codex, true)],
  },
  {
    name: 'codex-exec',
    title: 'OpenAI Codex, exec mode',
    aliases: [],
    launches: [native(['codex', 'exec', '--json'], nativeDriver(codexExec), false)],
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    aliases: ['gemini-cli'],
    launches: [
      acp('gemini', ['gemini', '--acp'], { ...gemini, keepSession: keepGeminiSession }),
      native(['gemini', '--output-format', 'stream-json'], nativeDriver(gemini), false),
    ],
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot CLI',
    aliases: ['github-copilot'],
    launches: [
      acp('copilot', ['copilot', '--acp', '--stdio'], copilot),
      native(['copilot', '-p', '--output-format', 'json'], nativeDriver(copilot), false),
    ],
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    aliases: [],
    launches: [
      acp('opencode', ['opencode', 'acp'], { ...opencode, env: OPENCODE_ASKS }),
      native(['opencode', 'run', '--format', 'json'], nativeDriver(opencode), false),
    ],
  },
  {
    name: 'cursor',
    title: 'Cursor',
    aliases: ['cursor-agent'],
    launches: [
      acp('cursor', ['cursor-agent', 'acp'], cursor),
      native(['cursor-agent', '-p', '--output-format', 'stream-json'], nativeDriver(cursor), false),
    ],
  },
  {
    name: 'vibe',
    title: 'Mistral Vibe',
    aliases: ['mistral-vibe'],
    launches: [acp('vibe', ['vibe-acp'], vibe), native(['vibe', '-p', '--output', 'streaming'], nativeDriver(vibe), false)],
  },
  ...ACP_AGENTS.map(acpAgent),
];
