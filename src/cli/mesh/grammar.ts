import type { ConfiguredGrammar, GrammarSettings } from '#mesh';
import { GRAMMARS, GrammarSettingError } from '#mesh';
import type { Settings } from '#server';
import { usage } from '../command.ts';

const LEVEL = /^[A-Za-z0-9_.-]{1,64}$/;

const FLAGS: Readonly<Record<keyof GrammarSettings, string>> = {
  broker: '--mesh',
  namespace: '--namespace',
  root: '--mesh-root',
  pools: '--mesh-pool',
  instance: '--mesh-instance',
};

/** The grammar that the settings name. Settings that it can't use are reported with their flag, before anything connects. */
export function configuredGrammar(address: string, settings: Settings): ConfiguredGrammar {
  const { meshGrammar, namespace, meshRoot, meshPools, meshInstance } = settings;
  if (meshInstance !== undefined && !LEVEL.test(meshInstance))
    throw usage(`--mesh-instance ${meshInstance}: use letters, digits, _ . and - only`);
  try {
    return GRAMMARS[meshGrammar]({
      broker: address,
      namespace,
      pools: meshPools,
      ...(meshRoot === undefined ? {} : { root: meshRoot }),
      ...(meshInstance === undefined ? {} : { instance: meshInstance }),
    });
  } catch (thrown) {
    if (thrown instanceof GrammarSettingError) throw usage(`${FLAGS[thrown.setting]}: ${thrown.message}`, thrown.hint);
    throw thrown;
  }
}
