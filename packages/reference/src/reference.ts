import { addSearch } from './search.ts';
import { addTrials } from './try-it.ts';

/** What `/docs` can do with JavaScript. Without it the page is complete to read. */
addSearch();
addTrials();
