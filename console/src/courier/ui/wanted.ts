import { useState } from 'preact/hooks';
import { openAddress, route } from '../../ui/router.js';

/**
 * Returns which dialog of a page is open: the one that a person has chosen, or the one that the address asks for with `new`. Closing it takes
 * it out of the address.
 * @param closeLink the address without it
 */
export function useWanted<Name extends string>(names: readonly Name[], closeLink: string) {
  const [chosen, setChosen] = useState<Name>();
  const asked = names.find((name) => name === route.value.query.get('new'));
  return {
    opened: chosen ?? asked,
    open: setChosen as (name: Name) => void,
    close: () => {
      setChosen(undefined);
      if (asked) openAddress(closeLink, { isSame: true });
    },
  };
}
