import type { ComponentChildren } from 'preact';
import { t } from '../../texts/texts.js';
import { usePresentInSight } from './in-sight.js';

type Props = { current: string; children: ComponentChildren };

/** The links to the parts of an object. */
export const TabBar = ({ current, children }: Props) => (
  <nav ref={usePresentInSight(current)} class="tabs" aria-label={t('office.parts')}>
    {children}
  </nav>
);
