import { cycle, type SeededRandom } from './seeded-random.js';

export type Goods = { shipper: string; description: string };
export type Parcel = {
  weightLb: string;
  lengthIn: number | null;
  widthIn: number | null;
  heightIn: number | null;
  packageType: string;
};

const GOODS: [shipper: string, ...descriptions: string[]][] = [
  [
    'Amazon',
    'Phone case and charger',
    'Kitchen scale',
    'Two paperback books',
    'Wireless headphones',
    'Vacuum cleaner bags',
  ],
  ['Walmart', 'Baby clothes', 'Non-stick frying pan', 'School supplies', 'Bed linen'],
  ['SHEIN', 'Dresses', 'Sandals and handbag', 'Swimwear'],
  ['eBay', 'Used camera lens', 'Watch', 'Game console controller'],
  ['Best Buy', 'Laptop', 'Tablet', 'Bluetooth speaker'],
  ['Temu', 'Household organisers', 'LED light strips', 'Garden tools'],
  ['AutoZone', 'Brake pads', 'Oxygen sensor', 'Wiper blades'],
  ['RockAuto', 'Alternator', 'Shock absorbers', 'Control arm'],
  ['Target', 'Toys', 'Bath towels', 'Vitamins'],
  ['Nike', 'Running shoes', 'Football boots'],
  ['iHerb', 'Food supplements', 'Skin care'],
  ['Home Depot', 'Cordless drill', 'Bathroom faucet', 'Door locks'],
];

/** Weights at a shared bound of two tiers, where the lower tier applies. */
const TIER_BOUNDS = [1000, 5000, 10_000, 15_000];

export function goods(random: SeededRandom): Goods {
  const [shipper, ...descriptions] = random.pick(GOODS);
  return { shipper, description: random.pick(descriptions) };
}

export function parcel(random: SeededRandom): Parcel {
  const thousandths = weightThousandths(random);
  const size = Math.ceil(Math.cbrt(thousandths / 1000) * 5) + random.whole(2, 5);
  const isMeasured = random.whole(1, 4) > 1;
  const inches = (spread: number) =>
    isMeasured ? size + random.whole(0, spread) + cycle([0, 0.25, 0.5], size) : null;
  return {
    weightLb: (thousandths / 1000).toFixed(3),
    lengthIn: inches(6),
    widthIn: inches(3),
    heightIn: inches(1),
    packageType: packageType(thousandths, random),
  };
}

// Most parcels are light, every tier has some, and weights have one, two or three decimals.
function weightThousandths(random: SeededRandom): number {
  const share = random.whole(1, 100);
  if (share > 96) return random.pick(TIER_BOUNDS);
  const step = random.pick([1, 10, 100]);
  const within = (minimum: number, maximum: number) =>
    Math.ceil(random.whole(minimum, maximum) / step) * step;
  if (share <= 22) return within(50, 1000);
  if (share <= 66) return within(1001, 5000);
  if (share <= 82) return within(5001, 15_000);
  if (share <= 93) return within(15_001, 50_000);
  return within(50_001, 95_000);
}

function packageType(thousandths: number, random: SeededRandom): string {
  if (thousandths > 50_000) return 'pallet';
  if (thousandths < 700) return random.pick(['envelope', 'bag']);
  return random.pick(['box', 'box', 'box', 'bag', 'tube']);
}
