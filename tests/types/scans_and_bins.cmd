fsmc run scans_and_bins.fsm f < scans_and_bins.json
