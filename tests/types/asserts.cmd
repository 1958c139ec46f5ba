fsmc run asserts.fsm f x=1; fsmc run asserts.fsm f x=-1; fsmc run asserts.fsm g x=-1
