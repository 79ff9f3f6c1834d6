import { settings } from '../device/settings.js';
import { guideAddress } from './sections.js';
import { t } from '../texts/texts.js';

/** Leads to a section of the user guide, in a new tab, so that a parcel on this page stays. */
export const GuideLink = ({ section }: { section: string }) => (
  <a
    class="button guide"
    href={guideAddress(section, settings.value.language)}
    target="_blank"
    rel="noopener"
  >
    <span aria-hidden="true">?</span>
    <span class="guide-text">{t('menu.guide')}</span>
  </a>
);
