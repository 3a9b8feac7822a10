CREATE VIEW all_nations AS FROM nation JOIN region ON n_regionkey = r_regionkey;
CREATE VIEW all_customers AS FROM customer JOIN all_nations ON c_nationkey = n_nationkey;
CREATE VIEW all_orders AS FROM orders JOIN all_customers ON o_custkey = c_custkey;
CREATE VIEW all_suppliers AS FROM supplier JOIN all_nations ON s_nationkey = n_nationkey;
CREATE VIEW all_offers AS FROM partsupp JOIN part ON ps_partkey = p_partkey JOIN all_suppliers ON ps_suppkey = s_suppkey;
CREATE VIEW purchased_items AS FROM lineitem JOIN all_orders ON l_orderkey = o_orderkey;
CREATE VIEW supplied_items AS FROM lineitem JOIN all_suppliers ON l_suppkey = s_suppkey;
