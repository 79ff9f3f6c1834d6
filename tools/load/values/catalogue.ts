/** A country that couriers deliver to. */
export type Country = {
  name: string;
  dialling: string;
  parishes: string[];
  towns: string[];
  streets: string[];
};

const JAMAICA: Country = {
  name: 'Jamaica',
  dialling: '+1 876',
  parishes: ['Kingston', 'Saint Andrew', 'Saint James', 'Manchester', 'Saint Catherine', 'Saint Ann'],
  towns: ['Kingston', 'Montego Bay', 'Mandeville', 'Portmore', 'Ocho Rios', 'May Pen', 'Spanish Town'],
  streets: ['Constant Spring Road', 'Harbour Street', 'Old Hope Road', 'Barnett Street', 'Caledonia Road'],
};
const BARBADOS: Country = {
  name: 'Barbados',
  dialling: '+1 246',
  parishes: ['Saint Michael', 'Christ Church', 'Saint James', 'Saint Philip'],
  towns: ['Bridgetown', 'Speightstown', 'Oistins', 'Holetown', 'Six Cross Roads'],
  streets: ['Broad Street', 'Wharf Road', 'Bay Street', 'Roebuck Street', 'Tudor Street'],
};
const TRINIDAD: Country = {
  name: 'Trinidad and Tobago',
  dialling: '+1 868',
  parishes: ['Port of Spain', 'San Fernando', 'Chaguanas', 'Tunapuna-Piarco'],
  towns: ['Port of Spain', 'San Fernando', 'Chaguanas', 'Arima', 'Scarborough', 'Couva'],
  streets: ['Frederick Street', 'Wrightson Road', 'Ariapita Avenue', 'Mucurapo Road', 'Coffee Street'],
};
const GUYANA: Country = {
  name: 'Guyana',
  dialling: '+592',
  parishes: ['Demerara-Mahaica', 'East Berbice-Corentyne', 'Upper Demerara-Berbice'],
  towns: ['Georgetown', 'Linden', 'New Amsterdam', 'Anna Regina', 'Bartica'],
  streets: ['Water Street', 'Regent Street', 'Sheriff Street', 'Camp Street', 'Vlissengen Road'],
};

/** Name and code of couriers, and the country each delivers to. None of them exists. */
export const COURIERS: readonly (readonly [name: string, code: string, country: Country])[] = [
  ['Blue Mountain Parcels', 'BMP', JAMAICA],
  ['Carlisle Bay Couriers', 'CBC', BARBADOS],
  ['Savannah Shipping', 'SAV', TRINIDAD],
  ['Kaieteur Express', 'KAI', GUYANA],
  ['Doctor Bird Deliveries', 'DBD', JAMAICA],
  ['Flying Fish Freight', 'FFF', BARBADOS],
  ['Scarlet Ibis Logistics', 'SIL', TRINIDAD],
  ['Cockpit Cargo', 'CPC', JAMAICA],
  ['Demerara Dispatch', 'DEM', GUYANA],
  ['Negril Next Day', 'NND', JAMAICA],
  ['Maracas Mail', 'MRM', TRINIDAD],
  ['Trident Transport', 'TRT', BARBADOS],
  ['Port Royal Packages', 'PRP', JAMAICA],
  ['Essequibo Expedite', 'ESX', GUYANA],
  ['Calypso Carriers', 'CAL', TRINIDAD],
  ['Lignum Vitae Lines', 'LVL', JAMAICA],
];

/** Tenants: warehouse operators near airports of Florida. */
export const OPERATORS = [
  {
    slug: 'doral',
    name: 'Doral Gateway Services',
    city: 'Doral',
    zip: '33122',
    dialling: '+1 305',
    airline: '106',
  },
  {
    slug: 'dania',
    name: 'Dania Cargo Terminal',
    city: 'Dania Beach',
    zip: '33004',
    dialling: '+1 954',
    airline: '810',
  },
  {
    slug: 'medley',
    name: 'Medley Consolidators',
    city: 'Medley',
    zip: '33166',
    dialling: '+1 786',
    airline: '272',
  },
  {
    slug: 'orlando',
    name: 'Orlando Air Parcels',
    city: 'Orlando',
    zip: '32827',
    dialling: '+1 407',
    airline: '001',
  },
  {
    slug: 'hialeah',
    name: 'Hialeah Freight Works',
    city: 'Hialeah',
    zip: '33010',
    dialling: '+1 305',
    airline: '406',
  },
  {
    slug: 'tampa',
    name: 'Tampa Bay Parcel Dock',
    city: 'Tampa',
    zip: '33607',
    dialling: '+1 813',
    airline: '016',
  },
] as const;

export type Operator = (typeof OPERATORS)[number];

/** What is bought, how much it weighs, and how bulky it is. */
export type Category = {
  shippers: string[];
  descriptions: string[];
  types: string[];
  /** Most parcels are near the lower bound. */
  pounds: [minimum: number, maximum: number];
  /** Cubic inches per pound. */
  bulk: number;
  /** Parcels of 100. */
  share: number;
};

export const CATEGORIES: readonly Category[] = [
  {
    shippers: ['SHEIN', 'Old Navy', 'Fashion Nova', 'Zara'],
    descriptions: ['Dresses', 'Jeans', 'Swimwear', 'T-shirts', 'Sandals and handbag'],
    types: ['bag', 'bag', 'box'],
    pounds: [0.3, 9],
    bulk: 220,
    share: 26,
  },
  {
    shippers: ['Amazon', 'Walmart', 'Temu', 'Target'],
    descriptions: ['Kitchen scale', 'Bed linen', 'LED light strips', 'Bath towels', 'Non-stick frying pan'],
    types: ['box', 'box', 'bag'],
    pounds: [0.6, 38],
    bulk: 260,
    share: 30,
  },
  {
    shippers: ['Best Buy', 'Amazon', 'Newegg', 'Apple'],
    descriptions: ['Laptop', 'Tablet', 'Bluetooth speaker', 'Phone case and charger', 'Wireless headphones'],
    types: ['box'],
    pounds: [0.4, 14],
    bulk: 150,
    share: 16,
  },
  {
    shippers: ['RockAuto', 'AutoZone', 'eBay'],
    descriptions: ['Brake pads', 'Alternator', 'Shock absorbers', 'Oxygen sensor', 'Control arm'],
    types: ['box', 'tube'],
    pounds: [2, 88],
    bulk: 90,
    share: 11,
  },
  {
    shippers: ['iHerb', 'Vitacost', 'Sephora'],
    descriptions: ['Food supplements', 'Skin care', 'Vitamins', 'Hair products'],
    types: ['box', 'envelope'],
    pounds: [0.3, 7],
    bulk: 110,
    share: 12,
  },
  {
    shippers: ['ThriftBooks', 'Amazon', 'USPS'],
    descriptions: ['Two paperback books', 'School supplies', 'Documents', 'Greeting cards'],
    types: ['envelope', 'envelope', 'box'],
    pounds: [0.1, 6],
    bulk: 60,
    share: 5,
  },
];
