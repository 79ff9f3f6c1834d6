/** The second click of a double click comes within this time. */
export const DOUBLE_CLICK_MS = 600;
/** A hand that clicks twice does not move farther. */
const SAME_PLACE_PX = 12;

let last = { atMs: -Infinity, x: 0, y: 0 };

/**
 * Makes a button act once per double click, also if another row has moved under the pointer meanwhile. Keys that press a button are clicks
 * at the same place.
 */
export const single =
  (act: () => void) =>
  ({ timeStamp, clientX, clientY }: MouseEvent): void => {
    const isSamePlace = Math.hypot(clientX - last.x, clientY - last.y) <= SAME_PLACE_PX;
    const isSecond = isSamePlace && timeStamp - last.atMs < DOUBLE_CLICK_MS;
    last = { atMs: timeStamp, x: clientX, y: clientY };
    if (!isSecond) act();
  };
