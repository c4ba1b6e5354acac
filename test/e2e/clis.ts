import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A coding CLI that is installed from npm and uses the fake model. */
export interface Cli {
  readonly name: string;
  /** The npm packages. The version of the first one is the CLI's. */
  readonly packages: readonly string[];
  /** The names under which `parley serve` starts it. */
  readonly launches: readonly Launch[];
  /** Variables, and files in its home folder, that set the model. */
  settings(world: { readonly model: string; readonly home: string }): Readonly<Record<string, string>>;
}

export interface Launch {
  readonly agent: string;
  readonly via: 'acp' | 'native';
  /** Whether its permission requests reach the caller. */
  readonly asks: boolean;
  /** Whether it streams its answer. */
  readonly streams: boolean;
}

const both = (name: string, native: Pick<Launch, 'asks' | 'streams'>): readonly Launch[] => [
  { agent: `${name}:acp`, via: 'acp', asks: true, streams: true },
  { agent: `${name}:native`, via: 'native', ...native },
];

export const CLIS: readonly Cli[] = [
  {
    name: 'claude',
    packages: ['@anthropic-ai/claude-code', '@agentclientprotocol/claude-agent-acp'],
    launches: both('claude', { asks: true, streams: true }),
    settings: ({ model }) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'fake-key',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    }),
  },
  {
    name: 'gemini',
    packages: ['@google/gemini-cli'],
    launches: both('gemini', { asks: false, streams: true }),
    settings: ({ model, home }) => {
      write(join(home, '.gemini', 'settings.json'), JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }));
      return { GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: 'fake-key', GEMINI_MODEL: 'gemini-2.5-flash' };
    },
  },
  {
    name: 'qwen',
    packages: ['@qwen-code/qwen-code'],
    launches: [{ agent: 'qwen', via: 'acp', asks: true, streams: true }],
    settings: ({ model, home }) => {
      write(join(home, '.qwen', 'settings.json'), JSON.stringify({ security: { auth: { selectedType: 'openai' } } }));
      return { OPENAI_BASE_URL: `${model}/v1`, OPENAI_API_KEY: 'fake-key', OPENAI_MODEL: 'fake-model' };
    },
  },
  {
    name: 'codex',
    packages: ['@openai/codex', '@agentclientprotocol/codex-acp'],
    launches: [...both('codex', { asks: true, streams: true }), { agent: 'codex-exec', via: 'native', asks: false, streams: false }],
    settings: ({ model, home }) => {
      const provider = [
        '[model_providers.fake]',
        'name = "fake"',
        `base_url = "${model}/v1"`,
        'env_key = "FAKE_KEY"',
        'wire_api = "responses"',
      ];
      write(join(home, '.codex', 'config.toml'), ['model = "fake-model"', 'model_provider = "fake"', ...provider, ''].join('\n'));
      return { FAKE_KEY: 'fake-key', CODEX_API_KEY: 'fake-key' };
    },
  },
  {
    name: 'opencode',
    packages: ['opencode-ai'],
    launches: both('opencode', { asks: false, streams: false }),
    settings: ({ model }) => {
      const fake = {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${model}/v1`, apiKey: 'fake-key' },
        models: { 'fake-model': { name: 'fake' } },
      };
      return {
        OPENCODE_CONFIG_CONTENT: JSON.stringify({ model: 'fake/fake-model', provider: { fake } }),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
      };
    },
  },
  {
    name: 'copilot',
    packages: ['@github/copilot'],
    launches: both('copilot', { asks: false, streams: true }),
    settings: ({ model }) => ({
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: 'fake-key',
      COPILOT_MODEL: 'fake-model',
      COPILOT_OFFLINE: 'true',
    }),
  },
];

function write(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}
