"""What a report tells, computed: precision by size, hour and area, and a few people followed through a day."""
