import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Found {
  readonly violations: readonly { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** The serious and critical findings of axe-core on the current page. */
export async function seriousFaults(page: Page): Promise<readonly string[]> {
  // Loaded by the debugger, because the page's content security policy refuses a script element.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as Found;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
