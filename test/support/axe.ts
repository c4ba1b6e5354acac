import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Found {
  readonly violations: readonly { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** The serious and critical findings of axe-core on the current page. */
export function seriousFaults(page: Page): Promise<readonly string[]> {
  return faultsIn(page, ['serious', 'critical']);
}

/** All findings on the current page, except about the order of headings: the text of an agent has its own. */
export async function allFaults(page: Page): Promise<readonly string[]> {
  const found = await faultsIn(page, ['minor', 'moderate', 'serious', 'critical']);
  return found.filter((fault) => !fault.startsWith('heading-order:'));
}

async function faultsIn(page: Page, impacts: readonly string[]): Promise<readonly string[]> {
  // Loaded by the debugger, because the page's content security policy refuses a script element.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as Found;
  return violations
    .filter(({ impact }) => impacts.includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
