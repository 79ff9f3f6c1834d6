import { PAGES, type CourierPageId } from '../../pages.js';
import { t } from '../../texts/texts.js';
import { linkTo, route } from '../../ui/router.js';
import { TabBar } from '../../ui/bars/tab-bar.js';

/** What the page of the menu itself has, if its title names all of them. */
const FIRST = { developers: 'courierTab.key', unknown: 'myUnknown.tab' } as const;

const isNamed = (id: string): id is keyof typeof FIRST => id in FIRST;

/** The pages that belong together: one of the menu, and those under it. */
export const PageTabs = ({ of }: { of: CourierPageId }) => (
  <TabBar current={route.value.page}>
    {PAGES.filter(({ id, under }) => id === of || under === of).map(({ id, title }) => (
      <a key={id} href={linkTo(id)} aria-current={id === route.value.page ? 'page' : undefined}>
        {t(isNamed(id) ? FIRST[id] : title)}
      </a>
    ))}
  </TabBar>
);
