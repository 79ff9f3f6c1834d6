import { officeLink } from '../../ui/router.js';
import { TabBar } from '../../ui/bars/tab-bar.js';

type TabsProps = {
  base: [page: string, ...parts: string[]];
  tabs: [id: string, title: string][];
  current: string;
};

/** The parts of an object. Each has an address. */
export const Tabs = ({ base, tabs, current }: TabsProps) => (
  <TabBar current={current}>
    {tabs.map(([id, title]) => (
      <a
        key={id}
        href={officeLink(id === tabs[0]?.[0] ? base : [...base, id])}
        aria-current={id === current ? 'page' : undefined}
      >
        {title}
      </a>
    ))}
  </TabBar>
);
