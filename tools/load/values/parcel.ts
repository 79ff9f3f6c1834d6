import { cycle } from '../../../fixtures/demo/values/seeded-random.js';
import { CATEGORIES, type Category } from './catalogue.js';
import type { LoadRandom } from './random.js';

export type Contents = {
  shipper: string;
  description: string;
  packageType: string;
  weightLb: string;
  inches: [length: number, width: number, height: number] | null;
};

/** Each category as often as its share of 100. */
const DRAWN = CATEGORIES.flatMap((category) => Array.from({ length: category.share }, () => category));

/** Goods of one category, with a weight and a size that fit them. A fifth is not measured. */
export function contentsOf(random: LoadRandom): Contents {
  const category = random.pick(DRAWN);
  const weight = weightOf(random, category);
  return {
    shipper: random.pick(category.shippers),
    description: random.pick(category.descriptions),
    packageType: weight > 60 ? 'pallet' : random.pick(category.types),
    weightLb: weight.toFixed(random.pick([1, 2, 2, 3])),
    inches: random.isOne(80) ? sizeOf(random, weight * category.bulk) : null,
  };
}

/** The cube makes light parcels the most frequent. */
function weightOf(random: LoadRandom, { pounds: [minimum, maximum] }: Category): number {
  const part = random.whole(0, 1_000) / 1_000;
  return minimum + (maximum - minimum) * part ** 3;
}

function sizeOf(random: LoadRandom, cubicInches: number): [number, number, number] {
  const edge = Math.cbrt(cubicInches);
  const quarters = (inches: number) => Math.max(1, Math.round(inches * 4) / 4);
  const flatness = cycle([0.4, 0.7, 1], random.whole(0, 2));
  return [quarters((edge * 1.3) / flatness), quarters(edge), quarters((edge * flatness) / 1.3)];
}
