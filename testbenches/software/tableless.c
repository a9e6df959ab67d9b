/* A library of something else. */
int nobody_asks_for_this = 1;
